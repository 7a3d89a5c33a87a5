"""Incident fields, functions of points only; currents and signals that drive transient ones."""

from calderon.waves.current_path import CurrentPath
from calderon.waves.currents import CurrentDipole, CurrentSource, GaussianPulse, RampedSine, Signal
from calderon.waves.field import ElectromagneticSuperposition, ElectromagneticWave, Superposition, Wave
from calderon.waves.multipole import Multipole
from calderon.waves.plane import ElectromagneticPlaneWave, PlaneWave, TransientPlaneWave
from calderon.waves.point import ElectricDipole, MagneticDipole, PointSource
from calderon.waves.static import PointCharge, StaticDipole, UniformField

__all__ = [
    "CurrentDipole",
    "CurrentPath",
    "CurrentSource",
    "ElectricDipole",
    "ElectromagneticPlaneWave",
    "ElectromagneticSuperposition",
    "ElectromagneticWave",
    "GaussianPulse",
    "MagneticDipole",
    "Multipole",
    "PlaneWave",
    "PointCharge",
    "PointSource",
    "RampedSine",
    "Signal",
    "StaticDipole",
    "Superposition",
    "TransientPlaneWave",
    "UniformField",
    "Wave",
]
