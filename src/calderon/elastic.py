"""Words of elastic solids, `cal.elastic`: supports, loads of surfaces and of volumes, and sets of loads."""

from calderon.formulations.elastic.conditions.face_conditions import (
    ElasticSupport,
    Fixed,
    Force,
    Moment,
    Prescribed,
    Pressure,
    RigidMotion,
    Roller,
    SymmetryPlane,
    Traction,
)
from calderon.formulations.elastic.loads.body_loads import (
    Gravity,
    LoadCase,
    RemoteStress,
    Spin,
    TemperatureChange,
)
from calderon.formulations.elastic.loads.steady_temperature import SteadyTemperature

__all__ = [
    "ElasticSupport",
    "Fixed",
    "Force",
    "Gravity",
    "LoadCase",
    "Moment",
    "Prescribed",
    "Pressure",
    "RemoteStress",
    "RigidMotion",
    "Roller",
    "Spin",
    "SteadyTemperature",
    "SymmetryPlane",
    "TemperatureChange",
    "Traction",
]
