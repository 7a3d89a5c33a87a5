"""Words of elastic solids, `cal.elastic`: supports, loads of surfaces and of volumes, and sets of loads."""

from calderon.formulations.elastic.conditions.bolt_preload import BoltPreload
from calderon.formulations.elastic.conditions.face_conditions import (
    ElasticSupport,
    Fixed,
    Prescribed,
    Pressure,
    RigidMotion,
    Roller,
    SymmetryPlane,
    Traction,
)
from calderon.formulations.elastic.conditions.resultant_loads import BearingLoad, Force, Moment, PointMass
from calderon.formulations.elastic.loads.body_loads import (
    Gravity,
    LoadCase,
    RemoteStress,
    Spin,
    TemperatureChange,
)
from calderon.formulations.elastic.loads.steady_temperature import SteadyTemperature

__all__ = [
    "BearingLoad",
    "BoltPreload",
    "ElasticSupport",
    "Fixed",
    "Force",
    "Gravity",
    "LoadCase",
    "Moment",
    "PointMass",
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
