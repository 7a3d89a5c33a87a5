"""One page for each name of the reference, from its docstring and the programs of its group; conf.py calls `write`.

A page of docs/api is a group. Its first program comes before each of the others, which run by themselves after it. A
block

    ```{names} calderon.mesh
    ```

becomes a table of the module's names, each with a page of its own: types, description, and as example the
first program with the other one in which the name occurs first. `calderon.formulations.elastic` stands for those
names of `calderon.formulations` that are defined there, unless a longer prefix fits.
"""

import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import calderon

PAGES = Path(__file__).parents[1] / "api"
MODULES = (
    "mesh",
    "planar",
    "elastic",
    "exact",
    "plots",
    "backends",
    "hmatrix",
    "coupling",
)
"""Public modules; other names are those of calderon itself, or are parts of such objects."""
FOREIGN = "object", "Exception", "tuple", "LinearOperator"
"""Classes of other packages whose members are not repeated on pages."""
BLOCK = re.compile(r"(?m)^```\{names\} ([\w.]+)\n```$")
PROGRAM = re.compile(r"(?ms)^```python\n(.*?)^```")


class Name(NamedTuple):
    """A name of the reference: `where` it is found by autodoc, and `shown` to readers."""

    group: str
    block: str
    module: str
    name: str
    value: Any

    @property
    def shown(self) -> str:
        """cal.sphere, cal.mesh.sphere, or the module's own path of what only other objects return."""
        cal = importlib.import_module("calderon")
        for place in ("cal", "cal.elastic", "cal.planar", "cal.fft"):
            home = cal if place == "cal" else getattr(cal, place.removeprefix("cal."))
            # a name that a module has not would be looked up in all installed packages
            if self.name in home.__all__ and getattr(home, self.name) is self.value:
                return f"{place}.{self.name}"
        short = self.module.rsplit(".")[-1]
        return (
            f"cal.{short}.{self.name}"
            if short in MODULES
            else f"{self.module}.{self.name}"
        )

    @property
    def is_public(self) -> bool:
        return self.shown.startswith("cal.")

    @property
    def page(self) -> str:
        """Name of the page: `shown`, but `hmatrix.HMatrix` and the function `hmatrix.hmatrix`, `Material` and the
        function `material` would be one file on some systems."""
        short = self.shown.removeprefix("calderon.").removeprefix("cal.")
        clash = short == f"{self.name}.{self.name}" or (
            short.islower() and short.capitalize() in calderon.__all__
        )
        return f"{short}.function" if clash else short

    @property
    def summary(self) -> str:
        """The first sentence of the description."""
        if not callable(self.value):
            return repr(self.value)[:60]
        paragraph = (
            (inspect.getdoc(self.value) or "").split("\n\n")[0].replace("\n", " ")
        )
        return re.split(r"(?<=[a-z)\]])\. (?=[A-Z])", paragraph)[0]

    @property
    def used(self) -> re.Pattern[str]:
        """How the name is written in programs."""
        homes = {self.module.rsplit(".")[-1], *self.shown.split(".")[1:-1]}
        short = "|".join(sorted(homes))
        return re.compile(
            rf"(?<![\w.])(?:cal(?:\.(?:{short}))?|{short})\.{self.name}\b"
        )


@functools.cache
def programs(group: str) -> list[str]:
    """Programs of a page; the first one comes before each other one."""
    return PROGRAM.findall((PAGES / f"{group}.md").read_text(encoding="utf-8"))


def groups() -> dict[str, list[str]]:
    """The modules of each page."""
    texts = {
        path.stem: path.read_text(encoding="utf-8")
        for path in sorted(PAGES.glob("*.md"))
    }
    return {
        group: found for group, text in texts.items() if (found := BLOCK.findall(text))
    }


def names() -> Iterator[Name]:
    """All names of the reference, once each."""
    where = {block: group for group, blocks in groups().items() for block in blocks}
    listings: dict[str, list[str]] = {}
    for block in where:
        listing = block
        while not hasattr(importlib.import_module(listing), "__all__"):
            listing = listing.rpartition(".")[0]
        listings.setdefault(listing, []).append(block)
    seen: set[int] = set()
    for listing, blocks in listings.items():
        package = importlib.import_module(listing)
        for name in package.__all__:
            value = getattr(package, name)
            if inspect.ismodule(value) or (callable(value) and id(value) in seen):
                continue
            seen.add(id(value))
            origin = f"{getattr(value, '__module__', listing)}."
            block = max(
                (one for one in blocks if origin.startswith(f"{one}.")),
                key=len,
                default=listing,
            )
            yield Name(where[block], block, listing, name, value)


def example(one: Name) -> str:
    """A program that runs with the name in it; "" if its page has none."""
    found, used = programs(one.group), one.used
    for i, program in enumerate(found):
        if one.name in program and used.search(program):
            return program if i == 0 else f"{found[0].rstrip()}\n\n{program}"
    return ""


def escaped(text: str) -> str:
    """Plain text as Markdown in a cell; `code` stays code."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(
        part if i % 2 else re.sub(r"([\\*_|$<>\[\]{}])", r"\\\1", part)
        for i, part in enumerate(parts)
    )


@functools.cache
def classes() -> dict[type, Name]:
    """The classes that have a page."""
    return {one.value: one for one in names() if inspect.isclass(one.value)}


def ancestors(value: type) -> list[Name]:
    """Classes with a page that a class inherits members from, without those that another of them inherits from."""
    found = [each for each in value.__mro__[1:] if each in classes()]
    return [
        classes()[each]
        for each in found
        if not any(each in other.__mro__[1:] for other in found)
    ]


def page(one: Name) -> str:
    """The page of a name; it is reached from the table of its group."""
    kind = (
        "class"
        if inspect.isclass(one.value)
        else "function"
        if callable(one.value)
        else "data"
    )
    lines = [
        "---",
        "orphan: true",
        "---",
        "",
        f"# `{one.shown}`",
        "",
        f"One of {{doc}}`/api/{one.group}`.",
        "",
    ]
    lines += [
        "```{eval-rst}",
        f".. currentmodule:: {one.module}",
        f".. auto{kind}:: {one.name}",
    ]
    others = ancestors(one.value) if kind == "class" and one.is_public else []
    if kind == "class" and one.is_public:
        without = [*FOREIGN, *(each.value.__name__ for each in others)]
        lines.append(f"   :inherited-members: {', '.join(without)}")
    lines += ["```", ""]
    if others:
        links = " and ".join(f"[`{each.shown}`]({each.page}.md)" for each in others)
        lines += [f"Members of {links} are members of this class, too.", ""]
    if program := example(one):
        lines += ["## Example", "", "```python", program.rstrip(), "```", ""]
    return "\n".join(lines)


def table(block: str) -> str:
    """The table of a block: names that users write first, then what these return."""
    listed = sorted(
        (one for one in names() if one.block == block),
        key=lambda one: not one.is_public,
    )
    rows = [
        f"| [`{one.shown}`](names/{one.page}.md) | {escaped(one.summary)} |"
        for one in listed
    ]
    return "\n".join(["| name | |", "|---|---|", *rows])


def filled(app: Any, document: str, source: list[str]) -> None:
    """Sphinx's event source-read: blocks become tables."""
    if BLOCK.search(source[0]):
        source[0] = BLOCK.sub(lambda match: table(match[1]), source[0])


def write(folder: Path) -> None:
    """All pages, and none of names that are gone."""
    folder.mkdir(exist_ok=True)
    wanted = {f"{one.page}.md": page(one) for one in names()}
    for old in folder.glob("*.md"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
