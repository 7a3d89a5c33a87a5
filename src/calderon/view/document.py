"""Scenes as HTML: a figure within a page, a page of its own, and a frame in a notebook."""

import json
import os
import sys
import tempfile
import webbrowser
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from calderon.files import file_path, whole_file
from calderon.processes import package_version
from calderon.view.scene import Scene

STATIC = Path(__file__).parent / "static"
SCRIPTS = (
    "numbers", "colours", "surface", "outlines", "camera", "painter", "picking", "arrows", "widgets", "view", "bars",
    "marks", "export", "panel", "page",
)  # fmt: skip


def style() -> str:
    """The styles of views, once a page."""
    return (STATIC / "view.css").read_text(encoding="utf-8")


def script(*more: str) -> str:
    """The program of views, once a page, after the last of them; more: programs that use its functions."""
    parts = [(STATIC / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    return '(() => {\n"use strict";\n' + "\n".join([*parts, *more]) + "})();\n"


def figure(scene: Scene, picture: str = "") -> str:
    """The HTML of a scene. picture: the name of an image file that is shown where a browser has no WebGL 2."""
    data = embedded(scene.packed())
    caption = f"<figcaption>{escape(scene.caption)}</figcaption>" if scene.caption else ""
    instead = f' data-picture="{escape(picture)}"' if picture else ""
    label = escape(scene.caption or scene.title or "a view that turns")
    return (
        f'<figure class="cv"{instead}><div class="cv-stage"><canvas tabindex="0" role="img" aria-label="{label}">'
        f'</canvas></div>{caption}<script type="application/json">{data}</script></figure>'
    )


def embedded(data: Any) -> str:
    """JSON for a script element, which no text in it can end."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


@dataclass(frozen=True)
class View:
    """A scene to be looked at: in a notebook it appears as the value of a cell, elsewhere `open` it."""

    scene: Scene

    def html(self) -> str:
        """A page of its own, without references to the outside."""
        scene = self.scene
        subtitle = f"<p>{escape(scene.subtitle)}</p>" if scene.subtitle else ""
        figures = "\n".join(map(figure, (scene, *scene.parts)))
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta name="generator" content="calderon {escape(package_version())}">\n'
            f"<title>{escape(scene.title)}</title>\n<style>\n{style()}</style>\n</head>\n"
            f'<body class="cv-alone">\n<header><h1>{escape(scene.title)}</h1>{subtitle}</header>\n'
            f"<main>\n{figures}\n</main>\n<script>\n{script()}</script>\n</body>\n</html>\n"
        )

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the page (.html); whole or not at all."""
        path = file_path(path, "a view", "view.html")
        if path.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"a view's file name ends in .html: got {str(path)!r}")
        with whole_file(path) as scratch:
            scratch.write_text(self.html(), encoding="utf-8")
        return path

    def open(self) -> Path:
        """Write the page into a folder for temporary files and open it in the browser; its path."""
        path = self.write(Path(tempfile.mkdtemp(prefix="calderon-view-")) / "view.html")
        if not webbrowser.open(path.as_uri()):
            print(f"no browser was found: open {path}")
        return path

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """For notebooks: a frame, so that neither page disturbs the other."""
        height = 520 * (1 + len(self.scene.parts))  # pixels
        frame = (
            f'<iframe srcdoc="{escape(self.html())}" style="width:100%;height:{height}px;border:0" '
            'allow="fullscreen" sandbox="allow-scripts allow-downloads"></iframe>'
        )
        return {"text/html": frame, "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"View({self.scene.title or 'scene'!r})"


def in_notebook() -> bool:
    """Whether the program runs in a Jupyter kernel, which shows the value of a cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return any(each.__name__ == "ZMQInteractiveShell" for each in type(shell).__mro__)
