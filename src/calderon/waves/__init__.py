"""Incident fields: functions of points only."""

from calderon.waves.dipole import ElectricDipole, MagneticDipole
from calderon.waves.electromagnetic import ElectromagneticSuperposition, ElectromagneticWave
from calderon.waves.electromagnetic_plane import ElectromagneticPlaneWave
from calderon.waves.plane import PlaneWave
from calderon.waves.point import PointSource
from calderon.waves.time_harmonic import TimeHarmonicPlaneWave
from calderon.waves.wave import Superposition, Wave

__all__ = [
    "ElectricDipole",
    "ElectromagneticPlaneWave",
    "ElectromagneticSuperposition",
    "ElectromagneticWave",
    "MagneticDipole",
    "PlaneWave",
    "PointSource",
    "Superposition",
    "TimeHarmonicPlaneWave",
    "Wave",
]
