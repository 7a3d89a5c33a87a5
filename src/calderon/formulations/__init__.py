"""Boundary value problems as boundary integral equations: one file for each system."""

from calderon.formulations.elastic.body_loads import Gravity, RemoteStress, Rotation, TemperatureChange
from calderon.formulations.elastic.bonded import BondedSolids
from calderon.formulations.elastic.conditions import (
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
from calderon.formulations.elastic.load_cases import LoadCase
from calderon.formulations.elastic.material import ElasticMaterial
from calderon.formulations.elastic.solid import ElasticSolid
from calderon.formulations.elastic.solution import BondedSolution, ElasticSolution
from calderon.formulations.elastic.steady_temperature import SteadyTemperature
from calderon.formulations.electromagnetic.antenna import PECAntenna
from calderon.formulations.electromagnetic.antenna_feed import DeltaGap
from calderon.formulations.electromagnetic.antenna_solution import AntennaSolution
from calderon.formulations.electromagnetic.dielectric import DielectricScattering
from calderon.formulations.electromagnetic.dielectric_solution import DielectricSolution
from calderon.formulations.electromagnetic.pec import PECScattering, PECSolution
from calderon.formulations.electromagnetic.radiating_currents import RadiatingCurrents
from calderon.formulations.electromagnetic.scattering_solution import ElectromagneticSolution
from calderon.formulations.fluid_transmission import FluidTransmission
from calderon.formulations.impedance import ImpedanceScattering
from calderon.formulations.laplace_dirichlet import LaplaceDirichlet
from calderon.formulations.laplace_neumann import LaplaceNeumann
from calderon.formulations.linear_system import SolutionInfo
from calderon.formulations.periodic.cell import PeriodicCell
from calderon.formulations.periodic.cell_solution import CellSolution, CellSweep
from calderon.formulations.periodic.floquet_orders import FloquetOrders
from calderon.formulations.periodic.reflect_array import ReflectArray
from calderon.formulations.planar.echo import EchoPower, PlanarEcho
from calderon.formulations.planar.edge_port import EdgePort
from calderon.formulations.planar.line_modes import LineWave, line_parameters
from calderon.formulations.planar.line_port import LinePort, LineWaves
from calderon.formulations.planar.lumped import Lumped
from calderon.formulations.planar.port_sweep import PortSweep, Resonance
from calderon.formulations.planar.probe import ProbePort
from calderon.formulations.planar.problem import PlanarProblem
from calderon.formulations.planar.solution import PlanarPower, PlanarSolution
from calderon.formulations.potential_solution import PotentialSolution
from calderon.formulations.problem import Problem
from calderon.formulations.saving.loading import load
from calderon.formulations.scattering import ScatteringProblem
from calderon.formulations.scattering_solution import ScatteringSolution
from calderon.formulations.sound_hard import SoundHardScattering
from calderon.formulations.sound_soft import SoundSoftScattering
from calderon.formulations.sweep import frequency_sweep

__all__ = [
    "AntennaSolution",
    "BondedSolids",
    "BondedSolution",
    "CellSolution",
    "CellSweep",
    "DeltaGap",
    "DielectricScattering",
    "DielectricSolution",
    "EchoPower",
    "EdgePort",
    "ElasticMaterial",
    "ElasticSolid",
    "ElasticSolution",
    "ElasticSupport",
    "ElectromagneticSolution",
    "Fixed",
    "FloquetOrders",
    "FluidTransmission",
    "Force",
    "Gravity",
    "ImpedanceScattering",
    "LaplaceDirichlet",
    "LaplaceNeumann",
    "LinePort",
    "Lumped",
    "LineWave",
    "LineWaves",
    "LoadCase",
    "Moment",
    "PECAntenna",
    "PECScattering",
    "PECSolution",
    "PeriodicCell",
    "PlanarEcho",
    "PlanarPower",
    "PlanarProblem",
    "PlanarSolution",
    "PortSweep",
    "PotentialSolution",
    "Prescribed",
    "Pressure",
    "ProbePort",
    "Problem",
    "RadiatingCurrents",
    "ReflectArray",
    "RemoteStress",
    "Resonance",
    "RigidMotion",
    "Roller",
    "Rotation",
    "ScatteringProblem",
    "ScatteringSolution",
    "SolutionInfo",
    "SoundHardScattering",
    "SoundSoftScattering",
    "SteadyTemperature",
    "SymmetryPlane",
    "TemperatureChange",
    "Traction",
    "frequency_sweep",
    "line_parameters",
    "load",
]
