"""calderon: static, acoustic and electromagnetic fields, from a mesh file to a checked answer."""

import importlib as _importlib
import warnings as _warnings
from typing import TYPE_CHECKING as _TYPE_CHECKING

from calderon.processes import lasting_imports as _lasting_imports

with _lasting_imports():
    from calderon import backends, exact, hmatrix, mesh
    from calderon.backends import available
    from calderon.dense import assemble_dense as _assemble_dense
    from calderon.dense import assemble_matrix_free as _assemble_matrix_free
    from calderon.dense import plan_dense as _plan_dense
    from calderon.dg import MaxwellDG
    from calderon.fft import assemble_fft as _assemble_fft
    from calderon.fft import cell_inverse
    from calderon.files import DamagedFile
    from calderon.files import package_version as _package_version
    from calderon.fmm import assemble_fmm as _assemble_fmm
    from calderon.fmm import laplace_sums
    from calderon.fmm import plan_fmm as _plan_fmm
    from calderon.fmm.sums import LAYERS as _LAPLACE_SUMS
    from calderon.formulations import (
        BondedSolids,
        DeltaGap,
        DielectricScattering,
        EdgePort,
        ElasticMaterial,
        ElasticSolid,
        ElasticSupport,
        Fixed,
        FluidTransmission,
        Force,
        Gravity,
        ImpedanceScattering,
        LaplaceDirichlet,
        LaplaceNeumann,
        LinePort,
        LoadCase,
        Lumped,
        Moment,
        PECAntenna,
        PECScattering,
        PeriodicCell,
        PlanarProblem,
        Prescribed,
        Pressure,
        ProbePort,
        ReflectArray,
        RemoteStress,
        RigidMotion,
        Roller,
        Rotation,
        SoundHardScattering,
        SoundSoftScattering,
        SteadyTemperature,
        SymmetryPlane,
        TemperatureChange,
        Traction,
        frequency_sweep,
        line_parameters,
        load,
    )
    from calderon.greens import Elastostatic, Helmholtz, Laplace, ModifiedHelmholtz
    from calderon.hmatrix import assemble_hmatrix as _assemble_hmatrix
    from calderon.hmatrix import hlu
    from calderon.hmatrix import plan_hmatrix as _plan_hmatrix
    from calderon.hmatrix import save_assembly as _save_assembly
    from calderon.hmatrix.saving import SavedParts as _SavedParts
    from calderon.layers import Conductor, Layer, Stack, SurfaceImpedance
    from calderon.mesh import AccuracyWarning, Material, MeshError, MeshWarning, TetrahedralMesh, TriangleMesh, planar
    from calderon.mlfmm import assemble_mlfmm as _assemble_mlfmm
    from calderon.mlfmm import helmholtz_sums
    from calderon.mlfmm import plan_mlfmm as _plan_mlfmm
    from calderon.mlfmm import require_near_file as _require_near_file
    from calderon.mlfmm import save_near as _save_near
    from calderon.mlfmm.sums import LAYERS as _HELMHOLTZ_SUMS
    from calderon.onsurface import osrc_dtn, osrc_ntd
    from calderon.operators import (
        adjoint_double_layer,
        blocks,
        double_layer,
        electric_field,
        hypersingular,
        identity,
        laplace_beltrami,
        layered_electric_field,
        magnetic_field,
        single_layer,
    )
    from calderon.operators.methods import Method as _Method
    from calderon.operators.methods import register as _register
    from calderon.potentials import (
        double_layer_potential,
        electric_field_potential,
        magnetic_field_potential,
        single_layer_potential,
    )
    from calderon.potentials.summation import register_sums as _register_sums
    from calderon.quadrature import Quadrature
    from calderon.solvers import ConvergenceError, cg, gmres, lu
    from calderon.spaces import BC, DP1, P0, P1, P2, RBC, RWG, SNC, Function, VectorFunction, dual_tests
    from calderon.waves import (
        CurrentDipole,
        CurrentSource,
        ElectricDipole,
        ElectromagneticPlaneWave,
        GaussianPulse,
        MagneticDipole,
        PlaneWave,
        PointSource,
        RampedSine,
        TransientPlaneWave,
    )

if _TYPE_CHECKING:
    from calderon import plots

_register(
    _Method(
        "dense", _assemble_dense, several=True, mixed=True, stores_entries=True, stores_near=True,
        keeps_on_device=True, matrix="dense matrix", plan=_plan_dense,
    )
)  # fmt: skip
_register(_Method("matrix-free", _assemble_matrix_free, matrix="no matrix"))
_register(
    _Method(
        "hmatrix", _assemble_hmatrix, several=True, compresses=True, saves=_save_assembly, reads=_SavedParts,
        factorise=hlu, matrix="H-matrix", plan=_plan_hmatrix,
    )
)  # fmt: skip
_register(
    _Method(
        "fmm", _assemble_fmm, compresses=True, devices=False, matrix="fast multipole operator", plan=_plan_fmm,
    )
)  # fmt: skip
_register(
    _Method(
        "mlfmm", _assemble_mlfmm, several=True, stores_near=True, compresses=True, finest=1e-6, saves=_save_near,
        reads=_require_near_file, devices=False, matrix="multilevel fast multipole operator", plan=_plan_mlfmm,
    )
)  # fmt: skip
_register(
    _Method(
        "fft", _assemble_fft, mixed=True, stores_near=True, grids=True, devices=False, multiplies_on_devices=False,
        matrix="pre-corrected FFT operator",
    )
)  # fmt: skip
_register_sums(_LAPLACE_SUMS)
_register_sums(_HELMHOLTZ_SUMS)

__version__ = _package_version()

_RENAMED = {
    "TimeHarmonicPlaneWave": "TransientPlaneWave",
    "electric_potential": "electric_field_potential",
    "magnetic_potential": "magnetic_field_potential",
}


def __getattr__(name: str) -> object:
    """Pictures are imported when they are first named: numbers do not wait for Matplotlib, a quarter of the time.
    Former names lead to the new ones, with a DeprecationWarning."""
    if name == "plots":
        return _importlib.import_module("calderon.plots")
    if name in _RENAMED:
        _warnings.warn(f"cal.{name} is called cal.{_RENAMED[name]} now", DeprecationWarning, stacklevel=2)
        return globals()[_RENAMED[name]]
    raise AttributeError(f"module 'calderon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


__all__ = [
    "AccuracyWarning",
    "BC",
    "BondedSolids",
    "Conductor",
    "ConvergenceError",
    "CurrentDipole",
    "CurrentSource",
    "DP1",
    "DamagedFile",
    "DeltaGap",
    "DielectricScattering",
    "EdgePort",
    "ElasticMaterial",
    "ElasticSolid",
    "ElasticSupport",
    "Elastostatic",
    "ElectricDipole",
    "ElectromagneticPlaneWave",
    "Fixed",
    "FluidTransmission",
    "Force",
    "Function",
    "GaussianPulse",
    "Gravity",
    "Helmholtz",
    "ImpedanceScattering",
    "Laplace",
    "LaplaceDirichlet",
    "LaplaceNeumann",
    "Layer",
    "LinePort",
    "Lumped",
    "LoadCase",
    "MagneticDipole",
    "Material",
    "MaxwellDG",
    "MeshError",
    "MeshWarning",
    "ModifiedHelmholtz",
    "Moment",
    "P0",
    "P1",
    "P2",
    "PECAntenna",
    "PECScattering",
    "PeriodicCell",
    "PlanarProblem",
    "PlaneWave",
    "PointSource",
    "Prescribed",
    "Pressure",
    "ProbePort",
    "Quadrature",
    "RBC",
    "RWG",
    "RampedSine",
    "ReflectArray",
    "RemoteStress",
    "RigidMotion",
    "Roller",
    "Rotation",
    "SNC",
    "SoundHardScattering",
    "SoundSoftScattering",
    "Stack",
    "SteadyTemperature",
    "SurfaceImpedance",
    "SymmetryPlane",
    "TemperatureChange",
    "TetrahedralMesh",
    "Traction",
    "TransientPlaneWave",
    "TriangleMesh",
    "VectorFunction",
    "adjoint_double_layer",
    "available",
    "backends",
    "blocks",
    "cell_inverse",
    "cg",
    "double_layer",
    "double_layer_potential",
    "dual_tests",
    "electric_field",
    "electric_field_potential",
    "exact",
    "frequency_sweep",
    "gmres",
    "helmholtz_sums",
    "hlu",
    "hmatrix",
    "hypersingular",
    "identity",
    "laplace_beltrami",
    "laplace_sums",
    "layered_electric_field",
    "line_parameters",
    "load",
    "lu",
    "magnetic_field",
    "magnetic_field_potential",
    "mesh",
    "osrc_dtn",
    "osrc_ntd",
    "planar",
    "plots",
    "single_layer",
    "single_layer_potential",
]
