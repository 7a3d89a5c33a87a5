"""Words of elastic solids, `cal.elastic`: supports, loads of surfaces and of volumes, and sets of loads.

A name is imported when it is first used; `elastic.pyi` lists them with their files.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("calderon", __file__)
