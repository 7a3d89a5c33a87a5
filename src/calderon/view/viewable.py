"""Base class of everything that can be looked at: `show()` and `to_html()`."""

import os
from abc import abstractmethod
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, Protocol

from calderon.view.document import View, in_notebook
from calderon.view.scene import Grid, Scene


class Plane(Protocol):
    """A field on a plane, such as `solution.on_plane(...)`."""

    def layer(self) -> Grid: ...


class Viewable:
    """An object with a scene."""

    @abstractmethod
    def scene(self) -> Scene:
        """The layers that show it."""

    def view(self, *planes: Plane) -> View:
        """The view that `show` shows and `to_html` writes."""
        scene = self.scene()
        return View(replace(scene, layers=(*scene.layers, *(plane.layer() for plane in planes))))

    def show(self, *planes: Plane) -> View:
        """A view that turns, zooms and shows the value under the cursor: in a notebook as the value of a cell,
        elsewhere in the browser. planes: fields to be shown with it, such as `solution.on_plane(...)`."""
        view = self.view(*planes)
        if not in_notebook():
            view.open()
        return view

    def to_html(self, path: str | os.PathLike[str], *planes: Plane) -> Path:
        """Write the same view into one HTML file that needs no network; its path is returned."""
        return self.view(*planes).write(path)


class Described:
    """An object with a short `repr` instead of all its numbers; a notebook shows its text.

    A dataclass makes a `repr` of all fields unless its class has one: each subclass gets that of its parent.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    @property
    @abstractmethod
    def brief(self) -> str:
        """A description in a few words."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.brief})"

    def _repr_html_(self) -> str:
        """Its text for a notebook."""
        return f"<b>{type(self).__name__}</b><pre>{escape(str(self))}</pre>"
