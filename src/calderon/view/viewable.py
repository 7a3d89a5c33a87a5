"""What can be looked at: `show()` and `to_html()`."""

import os
from abc import abstractmethod
from pathlib import Path

from calderon.view.document import View, in_notebook
from calderon.view.scene import Scene


class Viewable:
    """An object with a scene."""

    @abstractmethod
    def scene(self) -> Scene:
        """The layers that show it."""

    def show(self) -> View:
        """A view that turns, zooms and shows the value under the cursor: in a notebook as the value of a cell,
        elsewhere in the browser."""
        view = View(self.scene())
        if not in_notebook():
            view.open()
        return view

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write the same view into one HTML file that needs no network; its path is returned."""
        return View(self.scene()).write(path)
