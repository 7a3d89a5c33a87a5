"""The record of a matrix by plane waves in a report: its levels, near blocks and checked error."""

from dataclasses import dataclass

from calderon.backends import format_bytes
from calderon.mlfmm import Multipole
from calderon.mlfmm.operator import LevelInfo
from calderon.report import Sheet
from calderon.report.formatting import Row, number

COLUMNS = (
    "wavenumber (1/m)", "edge (m)", "edge (wavelengths)", "boxes", "degree of patterns", "degree of translations",
    "pairs", "memory", "points of an edge",
)  # fmt: skip


@dataclass(frozen=True)
class PlaneWaves:
    """The record of a matrix by plane waves.

    levels: of each medium, the coarsest first, with its wavenumber; nbytes, near_nbytes: of all and of near blocks;
    error: relative, of products on so many checked rows; rtol: that was requested of them.
    """

    levels: tuple[tuple[complex, tuple[LevelInfo, ...]], ...]
    nbytes: int
    near_nbytes: int
    error: float | None
    checked: int
    rtol: float | None

    @staticmethod
    def of(matrix: Multipole) -> "PlaneWaves":
        """The record of a matrix."""
        levels = zip(matrix.media, matrix.levels, strict=True)
        found = tuple((complex(medium.k), tuple(each)) for medium, each in levels)
        return PlaneWaves(found, matrix.nbytes, matrix.near_nbytes, matrix.error, matrix.checked, matrix.rtol)

    def add_to(self, sheet: Sheet) -> None:
        """Add memory and checked error, and the levels of all media unless all boxes are neighbours."""
        rows: list[Row] = [
            ("memory of the matrix", format_bytes(self.nbytes), ""),
            ("near blocks", format_bytes(self.near_nbytes), ""),
        ]
        if self.error is not None:
            rows.append(
                (
                    f"error of products, on {self.checked} rows",
                    f"{self.error:.1e}",
                    f"of {self.rtol:g}" if self.rtol else "",
                )
            )
        sheet.block("Plane waves", rows)
        levels = [
            [
                f"{k.real:.4g}" + (f" + {k.imag:.4g}i" if k.imag else ""),
                number(one.edge),
                f"{one.wavelengths:.3g}",
                *(str(each or "") for each in (one.boxes, one.half, one.full, one.pairs)),
                format_bytes(one.nbytes),
                str(one.points or ""),
            ]
            for k, levels in self.levels
            for one in levels
        ]
        sheet.table("Levels of boxes", COLUMNS, levels)
