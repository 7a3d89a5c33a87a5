"""The packages h5py and meshio, and figures of Matplotlib, imported when something of them is first used: a program
that reads, writes and draws nothing does not wait for them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["figures", "h5py", "meshio"]


class _Later:
    """A package by its name: its attributes are those of the package, which the first of them imports."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


if TYPE_CHECKING:
    import h5py
    import matplotlib.figure as figures
    import meshio
else:
    h5py, meshio, figures = _Later("h5py"), _Later("meshio"), _Later("matplotlib.figure")
