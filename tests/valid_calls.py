"""A valid call of every public constructor, function and method, small enough that any of its arguments can be replaced
by nonsense many times."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import calderon as cal
import valid_methods
from valid_methods import POINTS, STEEL, X, Z, bars, file, parts, plate, signal, sphere, tetrahedra


class Call(NamedTuple):
    """A callable by its name, and the arguments of a valid call."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]


def inverse_distance(r):
    """1 / r and its slope."""
    return 1 / r, -1 / r**2


def public_names() -> dict[str, Any]:
    """Names of `cal`, `cal.elastic` and `cal.planar`, and one of `cal.fft`, without modules."""
    found = {name: getattr(home, name) for home in (cal.planar, cal.elastic, cal) for name in home.__all__}
    found["cell_inverse"] = cal.fft.cell_inverse
    return {name: value for name, value in found.items() if not inspect.ismodule(value)}


def constructors() -> Iterator[Call]:
    """Calls of constructors of waves, media, conditions, ports, spaces and meshes."""
    mesh, space = sphere(), cal.P1(sphere())
    gap = cal.DeltaGap(between=(1, 2))
    given: dict[str, dict[str, Any]] = {
        "AcousticProblem": {
            "mesh": mesh, "wavenumber": 1.0, "fluid": cal.Fluid(1.2, 343.0), "conditions": cal.Velocity(1.0),
            "side": "exterior", "space": "P1", "mirrors": None,
        },
        "AcousticSheet": {
            "mesh": plate(), "wavenumber": 1.0, "fluid": cal.Fluid(1.2, 343.0), "impedance": 400.0, "space": "P1",
            "mirrors": None,
        },
        "BC": {"mesh": mesh},
        "Baffle": {},
        "BondedSolids": {"parts": dict(zip(("low", "high"), bars(), strict=True))},
        "ColeCole": {"infinite": 4.0, "strengths": 50.0, "times": 8e-12, "exponents": 0.1},
        "Conductor": {"sigma": 5.8e7, "thickness": 35e-6, "permeability": 1.0, "roughness": 1e-6},
        "CurrentDipole": {"position": [0, 0, 0], "moment": Z, "signal": signal, "radius": 0.1},
        "CurrentPath": {"points": [[2, 0, 0], [0, 2, 0], [-2, 0, 0]], "current": 1.0},
        "CurrentSource": {"part": "a", "direction": Z, "current": signal},
        "DP1": {"mesh": mesh, "tags": None, "components": 1},
        "DP2": {"mesh": mesh, "tags": None, "components": 1},
        "Debye": {"infinite": 4.0, "strengths": [50.0, 3.0], "times": [8e-12, 1e-9]},
        "FiniteGap": {"cells": 3, "between": (1, 2), "name": "feed"},
        "DeltaGap": {"line": [[0, 0, 0], X]},
        "DielectricScattering": {"mesh": mesh, "wavenumber": 1.0, "permittivity": 2.0, "permeability": 1.0},
        "Drude": {"infinite": 1.0, "plasma": 2e15, "collisions": 1e13},
        "EdgePort": {"line": [[0, 0], [1, 0]]},
        "ElasticMaterial": {**STEEL, "density": 7800.0, "expansion": 1e-5, "yield_strength": 1e8, "loss_factor": 0.0},
        "ElasticScattering": {
            "volume": tetrahedra(), "wavenumber": 1.0, "material": cal.ElasticMaterial(**STEEL, density=7800.0),
            "fluid": cal.Fluid(1000.0, 1500.0), "loads": None, "point_forces": (), "mirrors": None,
            "inside": None,
        },
        "ElasticSolid": {"mesh": mesh, "material": cal.ElasticMaterial(**STEEL), "loads": None, "space": "P1"},
        "BearingLoad": {"resultant": Z},
        "BoltPreload": {"force": 1.0, "axis": Z},
        "ElasticSupport": {"modulus": 1e9, "direction": Z},
        "Elastostatic": STEEL,
        "ElectricDipole": {"position": [0, 0, 2], "moment": Z, "wavenumber": 1.0, "impedance": 1.0},
        "ElectromagneticPlaneWave": {"direction": X, "polarization": Z, "wavenumber": 1.0, "amplitude": 1.0},
        "Fluid": {
            "density": 1.2, "speed_of_sound": 343.0, "loss": 0.0, "kinematic_viscosity": 1.5e-5,
            "heat_capacity_ratio": 1.4, "prandtl": 0.71,
        },
        "FluidTransmission": {"mesh": mesh, "wavenumber": 1.0, "interior_wavenumber": 1.2, "density_ratio": 2.0},
        "Force": {"resultant": Z, "at": X},
        "Component": {"radial": 0, "monomial": (0, 0, 0), "normal": "none"},
        "Form": {"components": [cal.Component(0)], "test": [1.0], "trial": [1.0], "name": "mine"},
        "FourPole": {
            "matrix": np.eye(2), "frequency": 100.0, "areas": (1.0, 1.0), "fluid": cal.Fluid(1.2, 343.0),
        },
        "Function": {"space": space, "coefficients": np.ones(space.dimension), "label": "u", "unit": "m"},
        "GaussianPulse": {"width": 1e-9, "amplitude": 1.0, "frequency": 0.0, "delay": 1e-9},
        "Gravity": {"acceleration": Z},
        "Green": {
            "function": inverse_distance, "wavenumber": 0.0, "singularity": 1.0, "constants": (), "name": "mine",
        },
        "Helmholtz": {"wavenumber": 1.0},
        "HalfSpace": {"plane": "z", "rigid": True},
        "Impedance": {"value": 400.0, "gain": False},
        "InhomogeneousDielectric": {
            "volume": tetrahedra(), "wavenumber": 1.0, "permittivity": 2.0, "permeability": 1.5,
            "density": 1000.0, "formulation": "symmetric", "mirrors": None,
        },
        "InhomogeneousPotential": {
            "volume": tetrahedra(), "permittivity": 2.0, "charge_density": 1e-9, "space": "P1", "electrodes": None,
            "remanence": None, "mirrors": None,
        },
        "InhomogeneousScattering": {
            "volume": tetrahedra(), "wavenumber": 1.0, "density_ratio": 2.0, "interior_wavenumber": 1.2, "space": "P1",
            "formulation": "symmetric", "mirrors": None,
        },
        "ImpedanceScattering": {"mesh": mesh, "wavenumber": 1.0, "admittance": 0.5, "coupling": 1j, "mirrors": None},
        "LaplaceDirichlet": {"mesh": mesh, "side": "exterior", "space": "P0", "mirrors": None},
        "LaplaceNeumann": {"mesh": mesh, "side": "exterior", "space": "P1", "mirrors": None},
        "Interface": {"outside": "air", "inside": "body"},
        "Layer": {"thickness": 1e-3, "eps_r": 2.0, "mu_r": 1.0, "tan_delta": 0.01, "conductivity": 0.0},
        "LayoutLayer": {
            "name": "m", "bottom": 0.0, "height": 1e-6, "number": 10, "permittivity": None, "metal": True,
            "datatype": 0,
        },
        "LayoutStack": {
            "layers": [cal.LayoutLayer("m", 0.0, 1e-6, metal=True)], "margin": 1e-6, "permittivity": 1.0,
            "ignored": [63],
        },
        "LinePort": {"end": [0, 0], "toward": [1, 0], "width": 1e-3, "length": 1e-2},
        "LoadCase": {"loads": {1: cal.Pressure(1.0)}, "body": ()},
        "MaxwellProblem": {
            "mesh": mesh, "regions": {"air": cal.Material(), "body": cal.Material(2.0)},
            "surfaces": {0: cal.Interface("air", "body")}, "ports": (), "loads": (), "wavenumber": 1.0,
        },
        "MagnetizationCurve": {"strength": [0, 100.0, 1e5], "flux_density": [0, 1.0, 2.0]},
        "Metal": {"outside": "air", "inside": None, "impedance": None},
        "Line": {"impedance": 50.0, "length": 0.2, "velocity": 0.66, "crossed": False},
        "Circuit": {"network": cal.Line(50.0, length=0.2), "ports": (gap, gap)},
        "Lumped": {"gap": gap, "resistance": 1.0, "inductance": 1e-9, "capacitance": 1e-12, "parallel": False},
        "MagneticDipole": {"position": [0, 0, 2], "moment": Z, "wavenumber": 1.0, "impedance": 1.0},
        "Lorentz": {"infinite": 1.0, "strengths": 1.0, "resonances": 1e13, "widths": 1e11},
        "Material": {
            "permittivity": 2.0, "permeability": 1.0, "conductivity": 0.1, "density": 1000.0, "loss_tangent": 0.01,
        },
        "PermittivityTable": {"frequencies": [1e9, 2e9], "values": [4 + 0.1j, 3.9 + 0.2j]},
        "material": {"name": "FR4"},
        "Molecule": {"places": [[0, 0, 0]], "charges": [1e-19], "radii": [1e-10]},
        "MaxwellDG": {"mesh": tetrahedra(), "order": 1, "flux": "centred", "courant": 0.9, "time_step": None},
        "ModifiedHelmholtz": {"decay": 1.0},
        "Moment": {"resultant": Z},
        "Multipole": {"position": [0, 0, 2], "coefficients": [1.0], "wavenumber": 1.0},
        "P0": {"mesh": mesh, "tags": None, "components": 1},
        "P1": {"mesh": mesh, "tags": None, "boundary": True, "components": 1},
        "P2": {"mesh": mesh, "tags": None, "boundary": True, "components": 1},
        "PECAntenna": {"mesh": plate(), "wavenumber": 1.0, "feed": gap, "impedance": 377.0},
        "PECScattering": {"mesh": mesh, "wavenumber": 1.0, "formulation": "cfie", "weight": 0.5, "testing": "dual"},
        "PeriodicCell": {"mesh": plate(), "period": [0.03, 0.03], "stack": cal.Stack(), "sheet": 0.0},
        "PointMass": {"mass": 1.0, "at": X, "acceleration": Z},
        "PlanarProblem": {"stack": cal.Stack(), "mesh": plate(), "ports": [gap], "sheet": 0.0},
        "PlaneWave": {"direction": X, "wavenumber": 1.0, "amplitude": 1.0},
        "PointCharge": {"position": [0, 0, 2], "charge": 1e-9},
        "PointSource": {"position": [0, 0, 2], "wavenumber": 1.0, "amplitude": 1.0},
        "Prescribed": {"displacement": Z},
        "Pressure": {"value": 1e6},
        "ProbePort": {"place": [0, 0], "radius": 1e-3, "name": "a"},
        "Quadrature": {"regular": 4, "singular": 8, "near": 1.5},
        "RBC": {"mesh": mesh},
        "RWG": {"mesh": mesh, "tags": None},
        "RampedSine": {"frequency": 1e9, "amplitude": 1.0, "periods": 2.0},
        "ReflectArray": {
            "element": lambda size: cal.planar.patch(size, size, 1e-3), "sizes": [4e-3, 8e-3], "period": 0.01,
            "count": (3, 3), "frequency": 1e10, "focus": [0, 0, 0.1],
            "stack": cal.Stack([cal.Layer(1e-3)], below="pec"),
        },
        "Region": {"tags": "all", "permittivity": 2.0, "conductivity": None, "permeability": None, "debye_length": 1.0},
        "RemoteStress": {"stress_tensor": np.eye(3)},
        "RigidMotion": {"translation": Z, "rotation": Z, "centre": Z},
        "Roller": {"direction": Z},
        "Spin": {"angular_velocity": 1.0, "axis": Z, "centre": Z},
        "Sheet": {"region": "air", "ohms": 1.0},
        "SNC": {"mesh": mesh, "tags": None},
        "SoundHardScattering": {"mesh": mesh, "wavenumber": 1.0, "space": "P1", "coupling": 1j, "mirrors": None},
        "SoundPressure": {"value": 1.0},
        "SoundSoftScattering": {"mesh": mesh, "wavenumber": 1.0, "space": "P1", "coupling": 1j, "mirrors": None},
        "Stack": {"layers": [cal.Layer(1e-3)], "below": "pec", "above": cal.Layer()},
        "StaticDipole": {"position": [0, 0, 2], "moment": Z},
        "StaticProblem": {
            "mesh": mesh, "regions": {"ball": cal.Region("all", permittivity=2.0)}, "electrodes": {},
            "outside": cal.Region(), "space": "P1",
        },
        "SteadyTemperature": {"temperatures": {1: 300.0}, "heat": None, "conductivity": 40.0, "reference": 293.0},
        "Structure": {
            "stiffness": np.eye(2), "mass": np.eye(2), "normal": np.ones((cal.DP1(mesh).dimension, 2)),
            "space": cal.DP1(mesh),
        },
        "SurfaceImpedance": {"z": 1.0},
        "SymmetryPlane": {"direction": Z},
        "TemperatureChange": {"change": 10.0},
        "TetrahedralMesh": {"vertices": tetrahedra().vertices, "tetrahedra": tetrahedra().tetrahedra},
        "Traction": {"value": Z},
        "TransientPlaneWave": {"direction": X, "polarization": Z, "frequency": 1e9, "amplitude": 1.0},
        "TriangleMesh": {"vertices": mesh.vertices, "triangles": mesh.triangles, "tags": None},
        "UniformField": {"field": Z},
        "VectorFunction": {"space": cal.RWG(mesh), "coefficients": np.ones(cal.RWG(mesh).dimension)},
        "Velocity": {"value": 1.0},
        "WaveguidePort": {"region": "air", "behind": "air", "into": Z, "waves": 1, "polarization": [1, 0, 0]},
        "Wire": {
            "points": [[0, 0, 0], Z], "radius": 1e-3, "segments": 4, "conductor": cal.planar.Conductor(5.8e7),
            "coating": (2e-3, 2.2),
        },
        "WireAntenna": {
            "wires": [cal.Wire([[0, 0, 0], Z], 1e-3, 4)], "ports": cal.WireGap([0, 0, 0.5]), "frequency": 1e8,
            "loads": (), "wavenumber": None, "ground": None,
        },
        "WireGap": {"at": [0, 0, 0.5], "direction": Z, "outer_radius": 5e-3},
        "ViscothermalWall": {"kinematic_viscosity": 1.5e-5, "heat_capacity_ratio": 1.4, "prandtl": 0.7},
    }  # fmt: skip
    for name, arguments in given.items():
        yield Call(name, public_names()[name], arguments)


def shapes() -> Iterator[Call]:
    """Meshes by name, and exact solutions."""
    solid, fluid = cal.ElasticMaterial.from_wave_speeds(7700.0, 5950.0, 3240.0), cal.Fluid.water()
    given: dict[Any, dict[str, dict[str, Any]]] = {
        cal.mesh: {
            "almond": {"length": 1.0, "h": 0.1},
            "ball": {"radius": 1.0, "h": 1.0},
            "box": {"low": [0, 0, 0], "high": [1, 1, 1], "cells": 1},
            "cube": {"size": 1.0, "h": 1.0},
            "cuboid": {"lengths": [1.0, 1.0, 1.0], "h": 1.0, "grading": 2.0},
            "cylinder": {"radius": 0.5, "length": 1.0, "h": 0.5},
            "disc": {"radius": 1.0, "h": 1.0},
            "ellipsoid": {"semi_axes": [1.0, 1.0, 0.5], "h": 0.6, "volume": True},
            "hemisphere": {"radius": 1.0, "h": 0.5, "volume": True},
            "hollow_sphere": {"radius": 1.0, "inner_radius": 0.5, "h": 0.6},
            "layered_cuboid": {"lengths": [1.0, 1.0], "thicknesses": [0.5, 0.5], "h": 0.6},
            "merge": {"meshes": [sphere(), plate()]},
            "union": {"meshes": [sphere(), sphere().translated([0.5, 0, 0])]},
            "difference": {"mesh": sphere(), "cutters": sphere().translated([0.5, 0, 0])},
            "intersection": {"meshes": [sphere(), sphere().translated([0.5, 0, 0])]},
            "check": {"mesh": sphere()},
            "layered_ball": {"radii": [0.5, 1.0], "names": ["a", "b"], "air_radius": 2.0, "h": 1.0},
            "metres_per": {"unit": "mm"},
            "ogive": {"length": 1.0, "h": 0.1},
            "plate": {"lengths": [1.0, 1.0], "h": 0.5},
            "sample": {"name": "submarine", "resolution": "coarse"},
            "phantom_sizes": {"frequency": 1e9, "width": 0.004},
            "read": {"path": file("mesh.msh", sphere()), "scale": 1.0, "tolerance": None, "h": None},
            "read_tetrahedra": {"path": file("volume.msh", tetrahedra()), "scale": 1.0},
            "holds_tetrahedra": {"path": file("volume.msh", tetrahedra())},
            "step_report": {"mesh": tetrahedra(), "materials": None},
            "warn_wavenumber": {"mesh": sphere(), "wavenumber": 1.0},
            "without_part": {"mesh": parts(), "part": "a", "faces": "metal"},
            "write": {"mesh": sphere(), "path": file("mesh.msh", sphere()), "version": "4.1"},
            "Solid": {"kind": "cylinder", "points": [[0, 0, 0], [0, 0, 1]], "size": 0.5, "path": None},
            "solids": {"shapes": {"a": cal.mesh.Solid.cuboid([0, 0, 0], [1, 1, 1])}, "h": 0.7},
            "sphere": {"radius": 1.0, "h": 0.6, "volume": True},
            "spherical_shell": {"radius": 1.0, "thickness": 0.05, "h": 0.6, "layers": 1},
            "thickened": {"surface": sphere(), "thickness": 0.05, "layers": 1},
            "torus": {"major_radius": 1.0, "minor_radius": 0.3, "h": 0.3},
            "tube": {"radius": 1.0, "inner_radius": 0.5, "length": 1.0, "h": 0.5},
        },
        cal.planar: {
            "patch": {"width": 1.0, "length": 1.0, "h": 0.4, "z": 0.0},
            "line_fed_patch": {"length": 3.0, "width": 2.0, "line_width": 0.5, "line_length": 1.0, "h": 0.6},
            "outline": {"points": [[0, 0], [1, 0], [0, 1]], "holes": (), "h": 0.5, "edge": None, "z": 0.0},
            "rectangles": {"metal": [[0, 1, 0, 1]], "h": 0.4, "cells": 2, "z": 0.0},
            "via": {"mesh": cal.mesh.plate([1, 1], 0.2), "place": (0, 0), "radius": 0.1, "heights": [0, 0.2]},
            "ribbon": {"line": [[0, 0], [1, 0]], "heights": [0, 0.2], "h": 0.2},
            "ring": {"radius": 1.0, "inner_radius": 0.5, "h": 0.3},
            "spiral": {"turns": 1.5, "width": 0.2, "gap": 0.2, "inner_radius": 1.0, "h": 0.5, "cells": 1},
            "strip_dipole": {"length": 1.0, "width": 0.1, "h": 0.1, "cells": 1},
            "jerusalem_cross": {"length": 1.0, "width": 0.1, "ends": 0.3, "cells": 1},
        },
        cal.exact: {
            "conducting_permittivity": {"relative": 2.0, "conductivity": 0.1, "frequency": 1e9},
            "cube_capacitance": {"side": 1.0},
            "cubic_cavity": {"mode": (1, 1, 0), "size": 1.0},
            "disc_capacitance": {"radius": 1.0},
            "elastic_shell": {
                "wavenumber": 1.0,
                "radius": 1.0,
                "inner_radius": 0.9,
                "material": solid,
                "fluid": fluid,
                "filling": fluid,
                "direction": X,
            },
            "elastic_sphere": {"wavenumber": 1.0, "radius": 1.0, "material": solid, "fluid": fluid, "direction": X},
            "ellipsoid_capacitance": {"semi_axes": (3.0, 2.0, 1.0)},
            "fluid_sphere": {"k": 1.0, "radius": 1.0, "interior_wavenumber": 2.0, "density_ratio": 2.0, "direction": X},
            "head_magnetic_field": {"position": [0, 0, 0.5], "moment": X, "points": [[0, 0, 1.2], [1.0, 1.0, 0]]},
            "hertz_dipole": {"k": 1.0, "moment": Z, "position": [0, 0, 0], "kind": "electric"},
            "impedance_sphere": {"k": 1.0, "radius": 1.0, "admittance": 0.5, "direction": X},
            "layered_fluid_sphere": {
                "k": 1.0,
                "radii": [0.5, 1.0],
                "wavenumbers": [2.0, 3.0],
                "density_ratios": [2.0, 2.0],
                "direction": X,
                "core": "fluid",
            },
            "layered_sphere": {
                "radii": [0.5, 1.0],
                "materials": {"a": cal.Material(2.0), "b": cal.Material(3.0)},
                "frequency": 1e8,
            },
            "mie_layered_sphere": {"k": 1.0, "radii": [1.0, 2.0], "permittivities": [2.0, 3.0], "direction": X},
            "mie_dielectric_sphere": {"k": 1.0, "radius": 1.0, "permittivity": 2.0, "permeability": 1.0},
            "mie_pec_sphere": {"k": 1.0, "radius": 1.0, "direction": X, "polarization": Z},
            "point_sources": {"positions": [[0, 0, 0]], "strengths": [1.0], "wavenumber": 1.0},
            "radiating_cap": {"k": 1.0, "radius": 1.0, "angle": 0.5, "axis": Z},
            "radiating_sphere": {"k": 1.0, "radius": 1.0, "order": 0, "axis": Z, "slopes": None},
            "rigid_sphere": {"k": 1.0, "radius": 1.0, "direction": X},
            "soft_sphere": {"k": 1.0, "radius": 1.0, "direction": X},
            "sphere_capacitance": {"radius": 1.0},
            "spread_point_sources": {"radius": 1.0, "number": 5, "wavenumber": 1.0, "seed": 0},
            "thin_dipole_impedance": {"k": 1.0, "length": 1.0, "radius": 0.01, "impedance": 1.0, "at": "feed"},
            "unit_directions": {"theta": 0.1, "phi": 0.2},
        },
    }
    for module, functions in given.items():
        for name, arguments in functions.items():
            yield Call(f"{module.__name__}.{name}", getattr(module, name), arguments)


def operations() -> Iterator[Call]:
    """Operators, potentials, solvers and sums."""
    space, edges, green = cal.P1(sphere()), cal.RWG(sphere()), cal.Helmholtz(1.0)
    density = cal.Function(space, np.ones(space.dimension))
    current = cal.VectorFunction(edges, np.ones(edges.dimension))
    matrix, vector = 2 * np.eye(4) + 0.1, np.ones(4)
    board, k = cal.Stack([cal.Layer(1e-3)], below="pec"), {"wavenumbers": [1.0]}
    flat = cal.RWG(plate().translated([0, 0, 1e-3]))
    layered = cal.layered_electric_field(board, 1e9, flat)
    room = cal.AcousticProblem(sphere(), 1.0, fluid=cal.Fluid(1.2, 343.0), side="interior")
    saved = valid_methods.FOLDER / "solution.h5"
    cal.LaplaceDirichlet(sphere()).solve(1.0).save(saved)
    deck = valid_methods.FOLDER / "dipole.nec"
    deck.write_text("GW 1 5 0 0 0 0 0 1 1e-3\nGE 0\nEN\n")
    given: dict[str, dict[str, Any]] = {
        "a_weighting": {"frequencies": [100.0, 1000.0]},
        "adjoint_double_layer": {"green": green, "trial": space, "test": None, "quadrature": None},
        "blocks": {"table": [[cal.identity(space)]]},
        "VolumeSpace": {"name": "finite elements", "dimension": 3},
        "cell_inverse": {"operator": layered.assemble("fft"), "cells": np.zeros(flat.dimension, int)},
        "cg": {"A": matrix, "b": vector, "rtol": 1e-6, "maxiter": 10},
        "read_nec": {"path": deck},
        "double_layer": {"green": green, "trial": space, "test": None, "quadrature": None},
        "double_layer_potential": {"green": green, "density": density, "quadrature": None},
        "dual_tests": {"space": edges},
        "characteristic_modes": {"problem": cal.PECScattering(sphere(), 1.0), "number": 2, "like": None},
        "electric_field": {"green": green, "trial": edges, "test": None},
        "electric_field_potential": {"green": green, "density": current},
        "frequency_sweep": {"problem": cal.SoundSoftScattering(sphere(), 1.0), "wave": cal.PlaneWave(X, 1.0), **k},
        "gmres": {"A": matrix, "b": vector, "rtol": 1e-6, "maxiter": 10},
        "helmholtz_sums": {"points": POINTS, "charges": [1.0, 2.0], "wavenumber": 1.0, "targets": [Z], "rtol": 1e-4},
        "hlu": {"matrix": cal.single_layer(cal.Laplace(), space).assemble("hmatrix", rtol=1e-3), "rtol": 1e-2},
        "hrtf": {
            "head": cal.AcousticProblem(sphere(), 1.0, fluid=cal.Fluid.air()),
            "ears": {"left": [0, 1.0, 0]},
            "frequencies": [50.0],
            "points": [[0, 3.0, 0]],
            "centre": [0, 0, 0.1],
            "interpolate": None,
            "sweep_file": None,
            "method": "dense",
        },
        "hypersingular": {"green": green, "trial": space, "test": None, "form": "direct"},
        "identity": {"trial": space, "test": None},
        "laplace_beltrami": {"space": space},
        "laplace_sums": {"points": POINTS, "charges": [1.0, 2.0], "targets": [Z], "rtol": 1e-4},
        "layered_electric_field": {
            "stack": board,
            "frequency": 1e9,
            "trial": flat,
            "quadrature": None,
            "charges": True,
        },
        "line_parameters": {"stack": board, "width": 1e-3, "frequency": 1e9, "z": None},
        "load": {"path": saved},
        "lu": {"A": matrix, "overwrite": False},
        "magnetic_field": {"green": green, "trial": edges, "test": None},
        "magnetic_field_potential": {"green": green, "density": current},
        "osrc_dtn": {"space": space, "wavenumber": 1.0, "order": 2},
        "osrc_ntd": {"space": space, "wavenumber": 1.0, "order": 2},
        "resonances": {"problem": room, "low": 80.0, "high": 150.0, "height": None},
        "single_layer": {"green": green, "trial": space, "test": None, "quadrature": None},
        "transformed": {"operator": cal.single_layer(green, space), "left": None, "right": None},
        "single_layer_potential": {"green": green, "density": density},
        "third_octaves": {
            "frequencies": [80.0, 100.0, 120.0], "powers": [1.0, 2.0, 1.0], "kind": "mean", "bands": [100.0],
            "unit": "W", "reference": 1e-12, "quantity": "sound power",
        },
    }  # fmt: skip
    for name, arguments in given.items():
        yield Call(name, public_names()[name], arguments)
    operator = cal.single_layer(cal.Laplace(), space)
    yield Call(
        "assemble", operator.assemble, {"method": "dense", "rtol": None, "backend": "numba", "precision": "double"}
    )


def methods() -> Iterator[Call]:
    """Methods of the objects of `valid_methods`."""
    for source in valid_methods.SOURCES:
        for owner, calls in source():
            kind = owner.__name__ if isinstance(owner, type) else type(owner).__name__
            for name, arguments in calls.items():
                yield Call(f"{kind}.{name}", getattr(owner, name), arguments)
