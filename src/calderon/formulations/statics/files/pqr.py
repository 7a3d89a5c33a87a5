"""Molecules of PQR files: places, charges and radii of atoms.

Lines of atoms are `ATOM n name residue [chain] m x y z q r` with spaces between, places and radii in Angstrom, charges
in elementary charges. T. J. Dolinsky et al., PDB2PQR, Nucleic Acids Res. 32 (2004), W665. Files are untrusted: their
size and all numbers are checked.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.constants
from numpy.typing import ArrayLike

from calderon.formulations.statics.files.text_lines import given_path, lines_of, numbers_of, wrong
from calderon.mesh import Solid, TriangleMesh, solids, sphere
from calderon.validation import points_in_space, real_array
from calderon.waves import PointCharge

ATOMS = 1_000_000
"""Largest number of lines."""
ANGSTROM = scipy.constants.angstrom
WIDE, CHARGED, THICK = 1e5, 1e3, 100.0
"""Largest coordinate, charge and radius of a file."""
RECORD = re.compile(r"[A-Z][A-Z0-9]{2,5}$")
"""Words that begin lines of PDB files that hold no atoms."""


@dataclass(frozen=True, eq=False)
class Molecule:
    """Atoms of a molecule: places (n, 3) in m, charges (n,) in C, and radii (n,) in m, 0 for those without.

        molecule = cal.Molecule.read("ion.pqr")
        inside = {"molecule": cal.Region("all", permittivity=4.0)}
        water = cal.Region(permittivity=78.5, debye_length=8e-10)
        problem = cal.StaticProblem(molecule.surface(h=0.5e-10), inside, outside=water)
        problem.solve(sources=molecule.sources).solvation_energy  # in J

    ValueError for arrays of other lengths, numbers that are not finite and negative radii.
    """

    places: ArrayLike
    charges: ArrayLike
    radii: ArrayLike

    def __post_init__(self) -> None:
        places = points_in_space(self.places, "places of atoms")
        object.__setattr__(self, "places", places)
        for name in ("charges", "radii"):
            values = real_array(getattr(self, name), name, "a number of each atom")
            if (
                values.shape != (len(places),)
                or not np.isfinite(values).all()
                or (name == "radii" and values.min() < 0)
            ):
                raise ValueError(f"{name} are finite, one of each of {len(places)} atoms, and radii not negative")
            object.__setattr__(self, name, values)
        if not len(places):
            raise ValueError("a molecule has at least one atom")

    @classmethod
    def read(cls, path: str | Path) -> "Molecule":
        """The atoms of a .pqr file; ValueError, naming file, line and what it holds, for anything else."""
        place, rows = given_path(path, "a PQR file"), []
        models = 0
        for line, entries in lines_of(place, ATOMS):
            if entries[0] not in ("ATOM", "HETATM"):
                models += entries[0] == "MODEL"
                if models > 1 or not RECORD.match(entries[0]):
                    raise wrong(place, line, "one model, of ATOM and HETATM lines and records of PDB files", entries)
                continue
            if len(entries) not in (10, 11):
                raise wrong(place, line, "ATOM n name residue [chain] m x y z q r, with spaces between", entries)
            numbers = numbers_of(entries[-5:], place, line, WIDE)
            if abs(numbers[3]) > CHARGED or not 0 <= numbers[4] <= THICK:
                raise wrong(place, line, f"charges up to {CHARGED:g} and radii from 0 to {THICK:g}", entries[-2:])
            rows.append(numbers)
        if not rows:
            raise ValueError(f"{place}: no atoms")
        table = np.array(rows)
        return cls(ANGSTROM * table[:, :3], scipy.constants.e * table[:, 3], ANGSTROM * table[:, 4])

    @property
    def sources(self) -> list[PointCharge]:
        """A point charge for each atom that has one."""
        pairs = zip(np.asarray(self.places), np.asarray(self.charges).tolist(), strict=True)
        return [PointCharge(place, charge) for place, charge in pairs if charge]

    def surface(self, h: float) -> TriangleMesh:
        """The surface of all balls of the radii together, of edges h in m, by gmsh: of few atoms, some hundreds at
        most. Of one atom a sphere that keeps its volume; of several, vertices lie on the balls. ValueError where no
        atom has a radius."""
        places, radii = np.asarray(self.places), np.asarray(self.radii, float)
        own = np.flatnonzero(radii)
        if not len(own):
            raise ValueError("no atom has a radius: read a surface from a file instead")
        if len(own) == 1:
            return sphere(float(radii[own[0]]), h).translated(places[own[0]])
        return solids({"molecule": [Solid.ball(float(radii[n]), places[n]) for n in own]}, h)
