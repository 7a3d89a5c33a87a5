"""Case files of reflectarrays: [reflectarray], [element], and the [[layer]] tables of a board, from below."""

from typing import Literal

from pydantic import model_validator

from calderon.case.board import SHAPES, VACUUM, Boarded, BoardSolver, Element, Wall
from calderon.case.quantities import Frequency, Size
from calderon.case.table import Table, key
from calderon.formulations.options import DEFAULTS
from calderon.mesh import TriangleMesh


class Reflectarray(Table):
    """[reflectarray]: a square grid of elements that focus a wave at normal incidence; those of the curve of phases go
    from the smallest to the largest size, which is the first length of the element; its others are scaled with it."""

    period: Size = key("of the grid", ...)
    count: tuple[int, int] = key("elements along x and y", ...)
    frequency: Frequency = key("of the wave", ...)
    focus: Size = key("height of the focus above the array", ...)
    smallest: Size = key("size of an element", ...)
    largest: Size = key("size of an element", ...)
    sizes: int = key("between these, whose phases are computed", 9, ge=2)
    polarisation: Literal["TM", "TE"] = key("electric field along x (TM) or y (TE)", "TM")
    below: Wall = key("what is below the layers", "pec")


class ReflectarraySolver(BoardSolver):
    """[solver]: rtol of the residual of the equations of all elements together."""

    method: Literal["auto", "dense", "hmatrix", "fft"] = key(
        "how the matrix of all elements is stored", DEFAULTS["method"]
    )


class ReflectarrayCase(Boarded):
    """A whole case file of a reflectarray."""

    reflectarray: Reflectarray
    element: Element
    solver: ReflectarraySolver = ReflectarraySolver()

    @property
    def frequencies(self) -> list[float]:
        return [self.reflectarray.frequency]

    @property
    def ends(self) -> tuple[str, str]:
        return self.reflectarray.below, VACUUM

    @model_validator(mode="after")
    def _fits_together(self) -> "ReflectarrayCase":
        if self.reflectarray.smallest >= self.reflectarray.largest:
            raise ValueError("reflectarray.smallest must be below reflectarray.largest")
        self.interface  # noqa: B018
        return self

    def mesh(self, size: float) -> TriangleMesh:
        """An element of a size in m, all lengths of [element] scaled."""
        shape, parameters = SHAPES[self.element.shape], self.element.parameters
        factor = size / parameters[shape.needed[0]]
        scaled = {name: value if name == "cells" else value * factor for name, value in parameters.items()}
        return shape.build(**scaled, z=float(self.stack.interfaces[self.interface]))
