"""calderon: static, acoustic and electromagnetic fields, from a mesh file to a checked answer.

`__init__.pyi` lists the names and where they are; a name is imported when it is first used, so that a program waits
for what it uses only.
"""

import warnings as _warnings
from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec

import lazy_loader as _lazy_loader

from calderon.processes import lasting_imports as _lasting_imports
from calderon.processes import package_version as _package_version
from calderon.processes.extensions import extension as _extension

_import_name, _, __all__ = _lazy_loader.attach_stub(__name__, __file__)

_RENAMED = {
    "TimeHarmonicPlaneWave": "TransientPlaneWave",
}


def __getattr__(name: str) -> object:
    """Import a name, or a folder of the package. Former names lead to the new ones, with a DeprecationWarning, and
    unknown ones to Green's functions that other packages add."""
    if name in _RENAMED:
        _warnings.warn(f"cal.{name} is called cal.{_RENAMED[name]} now", DeprecationWarning, stacklevel=2)
        name = _RENAMED[name]
    if name == "__version__":
        return _package_version()
    if name not in __all__ and not _is_folder(name):
        found = None if name.startswith("_") else _extension("calderon.greens", name, type)
        if found is None:
            raise AttributeError(f"module 'calderon' has no attribute {name!r}")
        return found
    with _lasting_imports():
        return _import_name(name) if name in __all__ else _import_module(f"calderon.{name}")


def _is_folder(name: str) -> bool:
    """Whether a folder of the package has that name."""
    if not name.isidentifier() or name.startswith("_"):
        return False
    found = _find_spec(f"calderon.{name}")
    return found is not None and found.submodule_search_locations is not None


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
