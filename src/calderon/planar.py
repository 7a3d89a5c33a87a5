"""Words of boards, `cal.planar`: shapes of metal, layers, ports and lumped elements, and lines.

A name is imported when it is first used; `planar.pyi` lists them with their files.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("calderon", __file__)
