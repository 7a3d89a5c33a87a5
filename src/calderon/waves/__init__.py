"""Incident fields, functions of points only; currents and signals that drive transient ones."""

from calderon.waves.currents import CurrentDipole, CurrentSource, Signal
from calderon.waves.dipole import ElectricDipole, MagneticDipole
from calderon.waves.electromagnetic import ElectromagneticSuperposition, ElectromagneticWave
from calderon.waves.electromagnetic_plane import ElectromagneticPlaneWave
from calderon.waves.plane import PlaneWave
from calderon.waves.point import PointSource
from calderon.waves.signals import GaussianPulse, RampedSine
from calderon.waves.transient_plane import TransientPlaneWave
from calderon.waves.wave import Superposition, Wave

__all__ = [
    "CurrentDipole",
    "CurrentSource",
    "ElectricDipole",
    "ElectromagneticPlaneWave",
    "ElectromagneticSuperposition",
    "ElectromagneticWave",
    "GaussianPulse",
    "MagneticDipole",
    "PlaneWave",
    "PointSource",
    "RampedSine",
    "Signal",
    "Superposition",
    "TransientPlaneWave",
    "Wave",
]
