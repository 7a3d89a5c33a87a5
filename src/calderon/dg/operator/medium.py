"""Materials of the elements, in the units of the computation.

Fields are kept as E and Z0 H, times as c t, so that both fields are of the same magnitude, also in single precision.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE
from calderon.mesh import Material, TetrahedralMesh

FREE_SPACE = ("air", "vacuum")
"""Names that need no material."""


@dataclass(frozen=True, eq=False)
class Medium:
    """Relative permittivity, permeability, and sigma Z0 (1/m) of each tetrahedron; c and Z0 of the user's units."""

    permittivity: NDArray[np.float64]
    permeability: NDArray[np.float64]
    loss: NDArray[np.float64]
    speed: float
    impedance: float

    @property
    def matter(self) -> NDArray[np.bool_]:
        """Where it is not free space."""
        return np.asarray((self.permittivity != 1) | (self.permeability != 1) | (self.loss != 0))

    @property
    def magnetic_unit(self) -> str:
        """That of H for E in V/m: without materials eta is 1, and it is no unit of its own."""
        return "E0/eta" if self.impedance == 1 else "A/m"

    @property
    def admittance(self) -> NDArray[np.float64]:
        """sqrt(epsilon / mu) relative to vacuum."""
        return np.sqrt(self.permittivity / self.permeability)


def medium_of(mesh: TetrahedralMesh, materials: Mapping[str, Material] | None) -> Medium:
    """The constants of every tetrahedron: in SI units if there are materials, else epsilon = mu = 1 everywhere.

    Raises ValueError for a name that the mesh does not have, or a part of the mesh without a material.
    """
    # names of parts, and materials
    ones = np.ones(mesh.number_of_tetrahedra)
    if materials is None:
        return Medium(ones, ones, 0 * ones, 1.0, 1.0)
    if not isinstance(materials, Mapping):
        raise ValueError(f"materials={materials!r}: materials by name are needed, such as {{'glass': Material(4.0)}}")
    for name, given in materials.items():
        if not isinstance(given, Material):
            raise ValueError(f"materials[{name!r}]={given!r}: a Material(permittivity, permeability, ...) is needed")
        if name not in mesh.names:
            choices = ", ".join(map(repr, mesh.names)) or "none, or name its tags, names={name: tag} of the mesh"
            raise ValueError(f"materials: the mesh has no part {name!r}: choose {choices}")
    # relative constants by part, NaN where a part has none
    constants = np.full((mesh.number_of_tetrahedra, 3), np.nan)
    for name, tag in mesh.names.items():
        material = materials.get(name, Material() if name in FREE_SPACE else None)
        if material is not None:
            epsilon, mu, sigma = material.at_one_frequency(f"materials[{name!r}]")
            constants[mesh.tags == tag] = epsilon, mu, sigma * VACUUM_IMPEDANCE
    # parts without constants
    missing = np.isnan(constants[:, 0])
    if missing.any():
        tags = np.unique(mesh.tags[missing])
        called = {tag: name for name, tag in mesh.names.items()}
        parts = ", ".join(repr(called.get(int(tag), f"tag {tag}")) for tag in tags)
        raise ValueError(
            f"materials: {parts} ({missing.sum()} tetrahedra) have none: give one for each part"
            + (", and names={name: tag} to the mesh" if "tag " in parts else "")
        )
    permittivity, permeability, loss = constants.T.copy()
    return Medium(permittivity, permeability, loss, SPEED_OF_LIGHT, VACUUM_IMPEDANCE)
