"""Scattering of sound by bodies of varying density and speed of sound."""

from calderon.kinds.bodies.computing import InhomogeneousBodies
from calderon.kinds.bodies.model import InhomogeneousCase
from calderon.kinds.bodies.panels import PANELS

KIND = InhomogeneousBodies("inhomogeneous", "Bodies of varying material in sound", InhomogeneousCase, PANELS)
