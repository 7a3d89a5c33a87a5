"""Names of `cal.elastic`, and the file of each."""

from .formulations.elastic.loads.body_loads import (
    Gravity as Gravity,
    RemoteStress as RemoteStress,
    Spin as Spin,
    TemperatureChange as TemperatureChange,
)
from .formulations.elastic.conditions.face_conditions import (
    ElasticSupport as ElasticSupport,
    Fixed as Fixed,
    Force as Force,
    Moment as Moment,
    Prescribed as Prescribed,
    Pressure as Pressure,
    RigidMotion as RigidMotion,
    Roller as Roller,
    SymmetryPlane as SymmetryPlane,
    Traction as Traction,
)
from .formulations.elastic.loads.load_cases import LoadCase as LoadCase
from .formulations.elastic.loads.steady_temperature import SteadyTemperature as SteadyTemperature
