"""Names of problems and solutions, and the file of each."""

from .acoustic.acoustic_problem import AcousticProblem as AcousticProblem
from .acoustic.conditions.boundary_layers import ViscothermalWall as ViscothermalWall
from .acoustic.conditions.wall_conditions import (
    Impedance as Impedance,
    Rigid as Rigid,
    SoundPressure as SoundPressure,
    Velocity as Velocity,
)
from .acoustic.ducts.four_pole import FourPole as FourPole
from .acoustic.fluid import Fluid as Fluid
from .acoustic.fluid_transmission import FluidTransmission as FluidTransmission
from .acoustic.heads.head_transfer import HeadTransfer as HeadTransfer
from .acoustic.heads.hrtf import hrtf as hrtf
from .acoustic.impedance import ImpedanceScattering as ImpedanceScattering
from .acoustic.results.a_weighting import a_weighting as a_weighting
from .acoustic.results.acoustic_solution import AcousticSolution as AcousticSolution
from .acoustic.results.third_octaves import third_octaves as third_octaves
from .acoustic.room_modes import RoomMode as RoomMode
from .acoustic.scattering import ScatteringProblem as ScatteringProblem
from .acoustic.scattering_solution import ScatteringSolution as ScatteringSolution
from .acoustic.sheets.acoustic_sheet import AcousticSheet as AcousticSheet
from .acoustic.sheets.sheet_solution import SheetSolution as SheetSolution
from .acoustic.sound_hard import SoundHardScattering as SoundHardScattering
from .acoustic.sound_soft import SoundSoftScattering as SoundSoftScattering
from .composite.fed_solution import CompositeAntennaSolution as CompositeAntennaSolution
from .composite.problem import MaxwellProblem as MaxwellProblem
from .composite.solution import CompositeSolution as CompositeSolution
from .composite.surfaces import Interface as Interface, Metal as Metal, Sheet as Sheet, WaveguidePort as WaveguidePort
from .elastic.loads.body_loads import (
    Gravity as Gravity,
    RemoteStress as RemoteStress,
    Spin as Spin,
    TemperatureChange as TemperatureChange,
)
from .elastic.bonded import BondedSolids as BondedSolids
from .elastic.conditions.bolt_preload import BoltPreload as BoltPreload
from .elastic.conditions.face_conditions import (
    ElasticSupport as ElasticSupport,
    Fixed as Fixed,
    Prescribed as Prescribed,
    Pressure as Pressure,
    RigidMotion as RigidMotion,
    Roller as Roller,
    SymmetryPlane as SymmetryPlane,
    Traction as Traction,
)
from .elastic.conditions.resultant_loads import (
    BearingLoad as BearingLoad,
    Force as Force,
    Moment as Moment,
    PointMass as PointMass,
)
from .elastic.loads.body_loads import LoadCase as LoadCase
from .elastic.material import ElasticMaterial as ElasticMaterial
from .elastic.solid import ElasticSolid as ElasticSolid
from .elastic.results.solution import BondedSolution as BondedSolution
from .elastic.results.solution import ElasticSolution as ElasticSolution
from .elastic.loads.steady_temperature import SteadyTemperature as SteadyTemperature
from .electromagnetic.antenna import PECAntenna as PECAntenna
from .electromagnetic.antenna_solution import AntennaSolution as AntennaSolution
from .electromagnetic.cavity_modes import CavityMode as CavityMode
from .electromagnetic.characteristic_modes import (
    CharacteristicMode as CharacteristicMode,
    characteristic_modes as characteristic_modes,
)
from .electromagnetic.dielectric import DielectricScattering as DielectricScattering
from .electromagnetic.dielectric_solution import DielectricSolution as DielectricSolution
from .electromagnetic.pec import PECScattering as PECScattering, PECSolution as PECSolution
from .electromagnetic.radiating_currents import RadiatingCurrents as RadiatingCurrents
from .electromagnetic.scattering_solution import ElectromagneticSolution as ElectromagneticSolution
from .impulse_response import ImpulseResponse as ImpulseResponse
from .laplace.dirichlet import LaplaceDirichlet as LaplaceDirichlet
from .laplace.neumann import LaplaceNeumann as LaplaceNeumann
from .laplace.potential_solution import PotentialSolution as PotentialSolution
from .mirrors import Baffle as Baffle, HalfSpace as HalfSpace
from .periodic.cell import PeriodicCell as PeriodicCell
from .periodic.cell_solution import CellSolution as CellSolution, CellSweep as CellSweep
from .periodic.cell_solution import FloquetOrders as FloquetOrders
from .periodic.reflect_array import ReflectArray as ReflectArray
from .planar.echo import EchoPower as EchoPower, PlanarEcho as PlanarEcho
from .planar.problem import PlanarProblem as PlanarProblem
from .planar.solution import PlanarPower as PlanarPower, PlanarSolution as PlanarSolution
from .ports.finite_gap import FiniteGap as FiniteGap
from .ports.gaps import DeltaGap as DeltaGap, WireGap as WireGap
from .ports.board_slots import EdgePort as EdgePort
from .ports.line_port import LineWave as LineWave, line_parameters as line_parameters
from .ports.line_port import LinePort as LinePort, LineWaves as LineWaves
from .ports.board_slots import Lumped as Lumped
from .ports.circuits import Circuit as Circuit, Line as Line
from .ports.embedded import EmbeddedPatterns as EmbeddedPatterns
from .ports.port_sweep import PortSweep as PortSweep, Resonance as Resonance
from .ports.probe import ProbePort as ProbePort
from .problem import Problem as Problem
from .saving.loading import load as load
from .resonances import resonances as resonances
from .solution_info import SolutionInfo as SolutionInfo
from .statics.files.layout_stack import LayoutLayer as LayoutLayer, LayoutStack as LayoutStack
from .statics.files.pqr import Molecule as Molecule
from .statics.problem import StaticProblem as StaticProblem
from .statics.region import Region as Region
from .statics.solution import StaticSolution as StaticSolution
from .swept_values import SweptValues as SweptValues
from .sweep import frequency_sweep as frequency_sweep
from .wires.antenna import WireAntenna as WireAntenna
from .wires.nec import NecModel as NecModel, read_nec as read_nec
from .wires.solution import WireSolution as WireSolution
from .wires.wire import Wire as Wire
