"""Faces of a triangle mesh: tags by name, the table of faces, selections, the picture."""

import colorsys
import difflib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from html import escape
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.mesh.errors import MeshError, warn
from calderon.mesh.faces.names import TagNames
from calderon.mesh.faces.selection import Selection, chosen_by, selected, warn_of_cuts
from calderon.mesh.faces.table import SurfaceFaces
from calderon.mesh.triangulation import Triangulation
from calderon.validation import describe, index_array
from calderon.view import PART_COLOURS, Scene, Surface, Viewable

MOST_PARTS = 48
"""Tags that have a colour of their own in a picture."""


class NamedFaces(Triangulation, Viewable):
    """Tags and faces of a triangle mesh."""

    @property
    def colours(self) -> Mapping[int, str]:
        """The colours of tags, {tag: "#rrggbb"}, as a CAD model gives them; empty without."""
        return TagNames(self.names).colours

    @property
    def solids(self) -> Mapping[str, tuple[int, ...]]:
        """The tags of the faces of each solid of a CAD model by its name; such a name means all of them."""
        return TagNames(self.names).solids

    def tag_numbers(self, tags: int | str | Iterable[int | str]) -> NDArray[np.int64]:
        """Tags given as numbers or names as sorted numbers, "a" also for names "a|b" of walls between solids; MeshError
        for those that the mesh does not have."""
        wanted = list(tags) if isinstance(tags, Iterable) and not isinstance(tags, str) else [tags]
        for tag in wanted:
            if isinstance(tag, bool) or not isinstance(tag, str | int | np.integer):
                raise MeshError(f"tags are numbers or names, got {tag!r}: see .tags and .names of this mesh")
        present, names = set(np.unique(self.tags).tolist()), TagNames(self.names)
        numbers = {tag: present.intersection(names.tags_of(tag)) for tag in wanted}
        unknown = [tag for tag, found in numbers.items() if not found]
        if unknown or not wanted:
            known = sorted({*names, *names.solids})
            near = difflib.get_close_matches(str(unknown[0]), known, n=1, cutoff=0.4) if unknown else []
            hint = f"; did you mean {near[0]!r}? This" if near else ": this"
            raise MeshError(
                f"unknown tags {unknown}{hint} mesh has {sorted(present)} and the names {dict(names)}; "
                "print(mesh.faces()) lists the faces, mesh.show() or calderon mesh FILE --html faces.html shows them"
            )
        return np.array(sorted(set().union(*numbers.values())), dtype=np.int64)

    def faces(self, angle: float | None = None) -> SurfaceFaces:
        """The table of the faces: tag, name, number of triangles, area, centre, and the plane or the cylinder on which
        a face lies, found from its vertices.

        A face is a connected part of one tag. Where the mesh has one tag only, as from STL, and wherever an angle in
        radians is given, faces end at edges at which normals differ by more than it (30 degrees unless given).
        MeshError for anything but an angle from 0 to pi.

            print(cal.mesh.sample("bracket").faces())
        """
        if angle is None:
            return self._faces
        if isinstance(angle, bool) or not isinstance(angle, Real) or not 0 <= angle <= np.pi:
            raise MeshError(f"angle = {angle!r}: an angle between two normals in radians, from 0 to pi, is needed")
        return SurfaceFaces(self, float(angle))

    @cached_property
    def _faces(self) -> SurfaceFaces:
        return SurfaceFaces(self)

    def select(
        self,
        *,
        cylinder: tuple[ArrayLike, ArrayLike, float] | None = None,
        plane: tuple[ArrayLike, ArrayLike] | None = None,
        near: ArrayLike | None = None,
        box: tuple[ArrayLike | None, ArrayLike | None] | None = None,
        normal: ArrayLike | None = None,
        name: int | str | Sequence[int | str] | None = None,
    ) -> Selection:
        """The triangles on which all that is given holds.

        cylinder: (point, axis, radius), those whose corners are on this cylinder without ends, within 1e-3 of the
        radius. plane: (point, normal), those in this plane, within 2e-6 of the diameter. near: a point (3,), or points
        (n, 3), the faces of the table `faces()` that are next to them. box: (low, high), those with all corners in it;
        either may be None. normal: a direction within 10 degrees of that of the triangles. name: tags by name or
        number, or the name of a solid.

        A MeshWarning says which faces are cut, and how much of them is taken, by a box or a direction that selects
        parts of several. MeshError
        where nothing is given, for unknown names, and where no triangle is left.

            holes = part.select(cylinder=([0, 0, 0], [0, 0, 1], 4e-3))
            part = part.named({"bolts": holes})
        """
        given = {"cylinder": cylinder, "plane": plane, "near": near, "box": box, "normal": normal, "name": name}
        found = [word for word, value in given.items() if value is not None]
        if not found:
            raise MeshError(f"a selection needs one of {', '.join(f'{word}=' for word in given)}")
        chosen = chosen_by(self, self._faces, cylinder=cylinder, plane=plane, near=near, box=box, normal=normal)
        if name is not None:
            chosen &= np.isin(self.tags, self.tag_numbers(name))
        if not chosen.any():
            spans = (f"{axis} from {a:.6g} to {b:.6g}" for axis, a, b in zip("xyz", *self.bounds, strict=True))
            raise MeshError(
                f"no triangle lies there, by {' and '.join(found)}: the mesh has {', '.join(spans)}; "
                "print(mesh.faces()) lists its faces"
            )
        selection = selected(self._faces, self.tags, self.areas, chosen)
        if box is not None or normal is not None:
            warn_of_cuts(selection, len(self._faces))
        return selection

    def named(self, selections: Mapping[str, Selection | ArrayLike]) -> Self:
        """The mesh with a new tag for each selection, by which problems know it under its name.

        selections: {name: what `select` gives, or numbers of triangles}. MeshError for names that the mesh has, for
        none and for triangles that it has not; MeshWarning where two selections share triangles, of which the later
        has them.
        """
        if not isinstance(selections, Mapping) or not selections:
            raise MeshError(f'named accepts selections by name, {{"bolts": selection}}, got {describe(selections)}')
        tags, names = self.tags.copy(), TagNames(self.names)
        colours = dict(names.colours)
        taken = np.zeros(len(tags), bool)
        for name, given in selections.items():
            if not isinstance(name, str) or not name:
                raise MeshError(f"the name of a selection is a text, got {describe(name)}")
            if name in names or name in names.solids:
                raise MeshError(f"the mesh has this name already: its names are {', '.join(map(repr, names))}")
            triangles = given.triangles if isinstance(given, Selection) else self._numbers(given)
            if not len(triangles) or triangles.max() >= len(tags):
                raise MeshError(
                    f"the selection {name!r} is empty or of another mesh: this one has {len(tags)} triangles"
                )
            if common := np.count_nonzero(taken[triangles]):
                warn(
                    f"{common} of {len(triangles)} triangles of {name!r} are in an earlier selection, which loses them"
                )
            number = max([int(tags.max()), *names.values(), *names.colours]) + 1
            if isinstance(given, Selection) and given.tag in colours:
                colours[number] = colours[given.tag]
            names[name] = number
            taken[triangles], tags[triangles] = True, number
        names = TagNames(names, colours)
        return type(self)(self.vertices, self.triangles, tags, names, self.note)

    def _numbers(self, given: ArrayLike) -> NDArray[np.int64]:
        try:
            return np.unique(index_array(given, len(self.triangles), "triangle")[0])
        except (TypeError, ValueError) as error:
            raise MeshError(str(error)) from None

    def _repr_html_(self) -> str:
        """For notebooks: the description, and the names of tags in the colours of `show`."""
        marks = [f'<li><i style="background:{part.colour or PART_COLOURS[0]}">&emsp;</i> {escape(part.name)}</li>'
                 for part in self.scene().layers if isinstance(part, Surface)]  # fmt: skip
        return (
            f"<b>{type(self).__name__}</b><p>{escape(str(self))}</p><ul style='list-style:none'>{''.join(marks)}</ul>"
        )

    def scene(self) -> Scene:
        """The triangles with their edges, each tag in a colour of its own that the legend names: that of the CAD model
        where it has one. Of more tags than 48 the smallest share a colour."""
        present, count = np.unique(self.tags, return_counts=True)
        called = {number: name for name, number in self.names.items()}
        title = f"Mesh of {len(self.triangles)} triangles"
        if len(present) == 1:
            parts = [Surface(called.get(int(present[0]), "surface"), self.vertices, self.triangles)]
            return Scene(tuple(parts), title=title, subtitle=str(self), edges=True)
        shown = present if len(present) <= MOST_PARTS else np.sort(present[np.argsort(-count)][: MOST_PARTS - 1])
        parts = [self._part(called.get(tag, f"tag {tag}"), self.tags == tag, self._colour(tag, k))
                 for k, tag in enumerate(shown.tolist())]  # fmt: skip
        if len(shown) < len(present):
            others = f"{len(present) - len(shown)} other tags"
            parts.append(self._part(others, ~np.isin(self.tags, shown), PART_COLOURS[0]))
        return Scene(tuple(parts), title=title, subtitle=str(self), edges=True)

    def _colour(self, tag: int, place: int) -> str:
        """That of the model, else one of the palette, else one of hues a golden angle apart."""
        if tag in self.colours or place < len(PART_COLOURS):
            return self.colours.get(tag) or PART_COLOURS[place]
        parts = colorsys.hls_to_rgb(0.618034 * place % 1.0, 0.6 + 0.12 * (place % 2), 0.5)
        return "#{:02x}{:02x}{:02x}".format(*(round(255 * part) for part in parts))

    def _part(self, name: str, chosen: NDArray[np.bool_], colour: Any) -> Surface:
        here = np.flatnonzero(chosen)
        if len(np.unique(self.tags)) <= len(PART_COLOURS):
            return Surface(name, self.vertices, self.triangles[here], colour=colour, numbers=here)
        return Surface.of_faces(name, self.vertices, self.triangles[here], colour, numbers=here)
