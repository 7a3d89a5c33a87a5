"""Incident fields: functions of points only."""

from calderon.waves.plane import PlaneWave
from calderon.waves.point import PointSource
from calderon.waves.wave import Superposition, Wave

__all__ = ["PlaneWave", "PointSource", "Superposition", "Wave"]
