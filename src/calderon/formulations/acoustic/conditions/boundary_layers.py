"""Walls along which a fluid sticks and stays at one temperature: viscous and thermal boundary layers, time factor
exp(-i omega t)."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.acoustic.conditions.wall_conditions import WallCondition
from calderon.formulations.acoustic.fluid import BOUNDARY_LAYER, Fluid, boundary_layer_number
from calderon.mesh import TriangleMesh
from calderon.mesh.checks.thin_edges import distance_across
from calderon.mesh.errors import warn_of_accuracy
from calderon.validation import finite_complex, instance

PART_OF_DUCT = 1 / 3
"""Thickness of a boundary layer over the width of a duct up to which layers of opposite walls are apart: beyond, the
flow along the axis, which the condition takes for undisturbed, is a part of them."""
OPPOSITE = float(np.cos(np.radians(60.0)))
"""Cosine of the largest angle between a wall and one parallel to the wall across from it: that in a triangular tube."""


class LayerThickness(NamedTuple):
    """viscous: d_v = sqrt(2 nu / omega) in m. heat: (gamma - 1) d_t in m. thermal: d_t = d_v / sqrt(Pr) in m."""

    viscous: complex
    heat: complex
    thermal: complex


@dataclass(frozen=True)
class ViscothermalWall(WallCondition):
    """A rigid wall with its boundary layers, thin against the width of a duct: with the normal n out of the fluid,

        dp/dn = -(1 + i)/2 d_v Lap_S p + (1 + i)/2 (gamma - 1) d_t k^2 p,    d_v = sqrt(2 nu / omega),
        d_t = d_v / sqrt(Pr),

    Lap_S the Laplacian along the surface, whose flow does not cross the edges of the part. In a tube of radius a waves
    have k (1 + (1 + i)(d_v + (gamma - 1) d_t) / (2 a)), Kirchhoff's wavenumber of wide tubes.

    kinematic_viscosity: nu in m^2/s. heat_capacity_ratio: gamma. prandtl: Pr. Those of the fluid unless given
    (`Fluid.air` and `Fluid.water` have them). Together with a Velocity it is the boundary layer of a wall that moves.

    M. Berggren, A. Bernland and D. Noreland, J. Comput. Phys. 371 (2018) 633, with exp(+i omega t).
    """

    kinematic_viscosity: float | None = None
    heat_capacity_ratio: float | None = None
    prandtl: float | None = None

    def __post_init__(self) -> None:
        for name in BOUNDARY_LAYER:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, boundary_layer_number(getattr(self, name), name))

    def thickness(self, omega: complex, fluid: Fluid) -> LayerThickness:
        """The boundary layers at the angular frequency omega in 1/s, real or continued; ValueError where the fluid does
        not say what they need."""
        instance(fluid, Fluid, "boundary layers are those of a Fluid, as Fluid.air()")
        given = {name: getattr(self, name) or getattr(fluid, name) for name in BOUNDARY_LAYER}
        if missing := [name for name, value in given.items() if value is None]:
            arguments = ", ".join(f"{name}=..." for name in missing)
            raise ValueError(
                f"boundary layers need {', '.join(missing)} of the fluid: take Fluid.air(celsius) or "
                f"Fluid.water(celsius), or give ViscothermalWall({arguments}); air at 20 degrees has 1.5e-5 m^2/s, "
                "1.4 and 0.71"
            )
        viscosity, gamma, prandtl = (float(value) for value in given.values())
        if (rate := finite_complex(omega, "omega")).real <= 0:
            raise ValueError(f"omega is a positive angular frequency in 1/s, got {omega!r}")
        viscous = complex(np.sqrt(2 * viscosity / rate))
        thermal = viscous / np.sqrt(prandtl)
        return LayerThickness(viscous, (gamma - 1) * thermal, thermal)


def require_thin_layers(mesh: TriangleMesh, wall: Any, thickness: LayerThickness) -> None:
    """ValueError where boundary layers are thicker than a third of the duct along most of a wall, AccuracyWarning where
    they are along some of it. mesh: the whole surface, of which the wall is a part."""
    layer = max(abs(thickness.viscous), abs(thickness.thermal))
    reach = np.full(len(wall.triangles), layer / PART_OF_DUCT)
    width = distance_across(mesh, wall.triangles, reach, OPPOSITE, wall.sign)
    narrow = np.isfinite(width)
    if not narrow.any():
        return
    areas: NDArray[np.float64] = mesh.areas[wall.triangles]
    part, least = float(areas[narrow].sum() / areas.sum()), float(width[narrow].min())
    text = (
        f"boundary layers of {wall.name} are {1e3 * layer:.3g} mm thick, and {100 * part:.0f} % of it has another wall "
        f"nearer than three times that, {1e3 * least:.3g} mm: ViscothermalWall is for layers up to a third of the width"
    )
    if part > 0.5:
        raise ValueError(f"{text}; raise the frequency, or model the narrow part by an Impedance")
    warn_of_accuracy(text)
