"""The packages h5py and meshio, and figures of Matplotlib, imported when something of them is first used: a program
that reads, writes and draws nothing does not wait for them, and meshio need not be installed."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["figures", "h5py", "meshio"]


class _Later:
    """A package by its name: its attributes are those of the package, which the first of them imports. what: for which
    a package of the extra "formats" is needed, in the message of the ModuleNotFoundError where it is missing."""

    def __init__(self, name: str, what: str = "") -> None:
        self._name, self._what = name, what

    def __getattr__(self, attribute: str) -> Any:
        try:
            module = import_module(self._name)
        except ModuleNotFoundError as error:
            if not self._what or error.name != self._name:
                raise
            text = f"{self._what} need {self._name}, which is not installed: pip install 'calderon[formats]'"
            raise ModuleNotFoundError(text, name=self._name) from None
        return getattr(module, attribute)


if TYPE_CHECKING:
    import h5py
    import matplotlib.figure as figures
    import meshio
else:
    h5py, figures = _Later("h5py"), _Later("matplotlib.figure")
    meshio = _Later("meshio", "files .vtu, .ply, .vtk, .off, .med and .xdmf")
