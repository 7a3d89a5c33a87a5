"""A problem on surfaces: a rigid body in air, whose speed of sound is known."""

from calderon.formulations import SoundHardScattering
from calderon.kinds.surface.physics import Problem

RIGID_IN_AIR = Problem("A rigid body in air", "acoustic", lambda physics, mesh, k: SoundHardScattering(mesh, k))
