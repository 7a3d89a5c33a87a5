"""Names of the package, and where each is: `__init__.py` imports one when it is first used."""

from . import (
    backends as backends,
    coupling as coupling,
    elastic as elastic,
    exact as exact,
    hmatrix as hmatrix,
    mesh as mesh,
    planar as planar,
    plots as plots,
)
from .backends import available_backends as available_backends
from .coupling import (
    ElasticScattering as ElasticScattering,
    InhomogeneousDielectric as InhomogeneousDielectric,
    InhomogeneousPotential as InhomogeneousPotential,
    InhomogeneousScattering as InhomogeneousScattering,
    MagnetizationCurve as MagnetizationCurve,
    Structure as Structure,
)
from .dg import MaxwellDG as MaxwellDG
from .files import DamagedFile as DamagedFile
from .fmm import laplace_sums as laplace_sums
from .formulations import (
    AcousticProblem as AcousticProblem,
    AcousticSheet as AcousticSheet,
    Baffle as Baffle,
    BondedSolids as BondedSolids,
    Circuit as Circuit,
    DeltaGap as DeltaGap,
    DielectricScattering as DielectricScattering,
    ElasticMaterial as ElasticMaterial,
    ElasticSolid as ElasticSolid,
    FiniteGap as FiniteGap,
    Fluid as Fluid,
    FluidTransmission as FluidTransmission,
    FourPole as FourPole,
    HalfSpace as HalfSpace,
    Impedance as Impedance,
    ImpedanceScattering as ImpedanceScattering,
    Interface as Interface,
    LaplaceDirichlet as LaplaceDirichlet,
    LaplaceNeumann as LaplaceNeumann,
    LayoutLayer as LayoutLayer,
    LayoutStack as LayoutStack,
    Line as Line,
    Lumped as Lumped,
    Molecule as Molecule,
    MaxwellProblem as MaxwellProblem,
    Metal as Metal,
    PECAntenna as PECAntenna,
    PECScattering as PECScattering,
    PeriodicCell as PeriodicCell,
    PlanarProblem as PlanarProblem,
    Pressure as Pressure,
    ProbePort as ProbePort,
    ReflectArray as ReflectArray,
    Region as Region,
    Rigid as Rigid,
    Sheet as Sheet,
    WaveguidePort as WaveguidePort,
    SoundHardScattering as SoundHardScattering,
    SoundPressure as SoundPressure,
    SoundSoftScattering as SoundSoftScattering,
    StaticProblem as StaticProblem,
    Traction as Traction,
    Velocity as Velocity,
    a_weighting as a_weighting,
    ViscothermalWall as ViscothermalWall,
    Wire as Wire,
    WireAntenna as WireAntenna,
    WireGap as WireGap,
    read_nec as read_nec,
    characteristic_modes as characteristic_modes,
    frequency_sweep as frequency_sweep,
    hrtf as hrtf,
    load as load,
    resonances as resonances,
    third_octaves as third_octaves,
)
from .greens import (
    Elastostatic as Elastostatic,
    Green as Green,
    Helmholtz as Helmholtz,
    Laplace as Laplace,
    ModifiedHelmholtz as ModifiedHelmholtz,
)
from .hmatrix import hlu as hlu
from .layers import Layer as Layer, Stack as Stack
from .mesh import (
    AccuracyWarning as AccuracyWarning,
    ColeCole as ColeCole,
    Debye as Debye,
    Drude as Drude,
    Lorentz as Lorentz,
    Material as Material,
    MeshError as MeshError,
    MeshWarning as MeshWarning,
    PermittivityTable as PermittivityTable,
    TetrahedralMesh as TetrahedralMesh,
    TriangleMesh as TriangleMesh,
    material as material,
)
from .mlfmm import helmholtz_sums as helmholtz_sums
from .onsurface import osrc_dtn as osrc_dtn, osrc_ntd as osrc_ntd
from .operators import (
    Component as Component,
    Form as Form,
    VolumeSpace as VolumeSpace,
    adjoint_double_layer as adjoint_double_layer,
    blocks as blocks,
    double_layer as double_layer,
    electric_field as electric_field,
    hypersingular as hypersingular,
    identity as identity,
    laplace_beltrami as laplace_beltrami,
    layered_electric_field as layered_electric_field,
    magnetic_field as magnetic_field,
    single_layer as single_layer,
    transformed as transformed,
)
from .potentials import (
    double_layer_potential as double_layer_potential,
    electric_field_potential as electric_field_potential,
    magnetic_field_potential as magnetic_field_potential,
    single_layer_potential as single_layer_potential,
)
from .quadrature import Quadrature as Quadrature
from .solvers import ConvergenceError as ConvergenceError, cg as cg, gmres as gmres, lu as lu
from .spaces import (
    BC as BC,
    DP1 as DP1,
    DP2 as DP2,
    P0 as P0,
    P1 as P1,
    P2 as P2,
    RBC as RBC,
    RWG as RWG,
    SNC as SNC,
    Function as Function,
    VectorFunction as VectorFunction,
    dual_tests as dual_tests,
)
from .waves import (
    CurrentDipole as CurrentDipole,
    CurrentPath as CurrentPath,
    CurrentSource as CurrentSource,
    ElectricDipole as ElectricDipole,
    ElectromagneticPlaneWave as ElectromagneticPlaneWave,
    GaussianPulse as GaussianPulse,
    MagneticDipole as MagneticDipole,
    Multipole as Multipole,
    PlaneWave as PlaneWave,
    PointCharge as PointCharge,
    PointSource as PointSource,
    RampedSine as RampedSine,
    StaticDipole as StaticDipole,
    TransientPlaneWave as TransientPlaneWave,
    UniformField as UniformField,
)

__version__: str
