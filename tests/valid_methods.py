"""Valid calls of methods of meshes, problems, solutions, results and exact fields, for `valid_calls`: an object of each
class, and for each of its methods arguments that can be replaced by nonsense."""

import functools
import pathlib
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import gdstk
import meshio
import numpy as np

import calderon as cal
from calderon.formulations import HeadTransfer, PortSweep, SweptValues
from calderon.formulations.electromagnetic.cavity_modes import EmptyCavity

X, Y, Z = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
POINTS, ONE = [[2.0, 0.1, 0.2], [0.0, 3.0, 0.0]], [[2.0, 0.1, 0.2]]
ANGLES = {"theta": 0.4, "phi": 0.1}
FOLDER = pathlib.Path(tempfile.mkdtemp())
"""Where files are written."""
STEEL = {"youngs_modulus": 200e9, "poissons_ratio": 0.3}

Methods = dict[str, dict[str, Any]]
"""Arguments by the name of a method."""


@functools.cache
def sphere() -> Any:
    """A mesh of few triangles."""
    return cal.mesh.sphere(radius=1.0, h=1.0)


@functools.cache
def plate() -> Any:
    """A mesh of a plate in two parts, tags 1 and 2."""
    mesh = cal.mesh.plate([0.02, 0.01], 0.005)
    return cal.TriangleMesh(mesh.vertices, mesh.triangles, np.where(mesh.centroids[:, 0] < 0, 1, 2))


@functools.cache
def tetrahedra() -> Any:
    """Few tetrahedra."""
    return cal.mesh.box([0, 0, 0], [1, 1, 1], cells=1)


@functools.cache
def parts() -> Any:
    """Two materials of tetrahedra, "a" and "b"."""
    mesh = cal.mesh.box([0, 0, 0], [2, 1, 1], cells=[2, 1, 1])
    return cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, mesh.centroids[:, 0] > 1, {"a": 0, "b": 1})


def file(name: str, mesh: Any) -> pathlib.Path:
    """The file of a mesh."""
    mesh.write(FOLDER / name)
    return FOLDER / name


def signal(t: float) -> float:
    """A current in time."""
    return t


def steady(points: Any, time: float = 0.0) -> Any:
    """A field that is zero."""
    return np.zeros((len(points), 3))


def everywhere(field: Any) -> Methods:
    """Methods that every sampled field has."""
    return {
        "at_points": {"points": POINTS}, "on_grid": {"low": [2, 2, 2], "high": [3, 3, 3], "points": (2, 2, 2)},
        "on_line": {"start": [2, 0, 0], "end": [3, 0, 0], "points": 2},
        "on_plane": {"origin": [3, 0, 0], "normal": Z, "size": (1, 1), "points": (2, 2)},
        "on_sphere": {"radius": 3.0, "theta": [0.1, 0.2], "phi": [0.0], "centre": [0, 0, 0]},
        "samples": {"places": field.at_points(POINTS).places},
    }  # fmt: skip


def meshes() -> Iterator[tuple[Any, Methods]]:
    """Meshes, functions and waves."""
    mesh, space, edges = sphere(), cal.P1(sphere()), cal.RWG(sphere())
    chosen = np.zeros(mesh.number_of_triangles, bool)
    yield mesh, {
        "contains": {"points": POINTS}, "divided": {"times": 1}, "merged_vertices": {"tolerance": 1e-6},
        "refine_edges": {"ratio": 0.5, "angle": 0.5}, "restricted": {"tags": 0}, "rotated": {"matrix": np.eye(3)},
        "scaled": {"factor": 2.0}, "sharp_edges": {"angle": 0.5}, "tag_numbers": {"tags": 0},
        "translated": {"vector": X}, "turned": {"chosen": chosen}, "remesh": {"h": 0.8, "angle": 0.5},
        "write": {"path": FOLDER / "mesh.msh", "version": "4.1"},
        "to_html": {"path": FOLDER / "view.html"},
    }  # fmt: skip
    yield cal.mesh.hemisphere(1.0, 0.7), {"mirrored": {"planes": "z"}, "mirror_images": {"planes": "z"}}
    yield cal.mesh.Solid, {
        "cuboid": {"low": [0, 0, 0], "high": [1, 1, 1]}, "ball": {"radius": 1.0, "centre": [0, 0, 0]},
        "cylinder": {"radius": 1.0, "start": [0, 0, 0], "end": [0, 0, 1]}, "read": {"path": "a.step"},
        "prism": {"outline": [[0, 0], [1, 0], [0, 1]], "bottom": 0.0, "height": 1.0},
    }  # fmt: skip
    cube = cal.mesh.cube(1.0, 0.5)
    methods = {
        "faces": {"angle": 0.5},
        "select": {
            "cylinder": None, "plane": ([0, 0, -0.5], Z), "near": [0, 0, -0.5], "box": (None, [1.0, 1.0, 1.0]),
            "normal": [0.0, 0.0, -1.0], "name": 0,
        },
        "named": {"selections": {"lid": cube.select(plane=([0, 0, -0.5], Z))}},
    }  # fmt: skip
    yield cube, methods
    yield cal.TriangleMesh, {"from_meshio": {"mesh": meshio.Mesh(mesh.vertices, [("triangle", mesh.triangles)])}}
    yield tetrahedra(), {"skin": {"own": np.arange(6) < 3}, "write": {"path": FOLDER / "volume.msh"}}
    pressure = cal.Function(space, np.ones(space.dimension))
    yield pressure, {
        "integral": {"tags": None}, "l2_error": {"exact": 1.0, "degree": 4}, "named": {"label": "p", "unit": "Pa"},
        "values": {"points": [[1 / 3, 1 / 3]]}, "surface_curl": {"points": [[1 / 3, 1 / 3]]},
        "surface_gradient": {"points": [[1 / 3, 1 / 3]]}, "write": {"path": FOLDER / "pressure.vtu"},
    }  # fmt: skip
    yield (
        cal.Function,
        {
            "interpolate": {"space": space, "data": 1.0, "label": "p", "unit": "Pa"},
            "project": {"space": space, "data": 1.0, "label": "p", "unit": "Pa"},
        },
    )
    yield cal.VectorFunction(edges, np.ones(edges.dimension)), {
        "integral": {"tags": None}, "l2_error": {"exact": lambda x, n: 0 * x, "degree": 4},
        "values": {"points": [[1 / 3, 1 / 3]]}, "write": {"path": FOLDER / "current.vtu"},
    }  # fmt: skip
    wave = {
        "electric": {"points": POINTS},
        "magnetic": {"points": POINTS},
        "at": {"wavenumber": 1.1, "impedance": 2.0},
        "mirrored": {"plane": "z"},
    }
    yield cal.ElectromagneticPlaneWave(X, Z, 1.0), wave
    yield cal.ElectricDipole([0, 0, 5], Z, 1.0), {**wave, "far_field": ANGLES}
    normals = [[0.0, 0.0, 1.0]] * 2
    sound = {
        "gradient": {"x": POINTS},
        "normal_derivative": {"x": POINTS, "n": normals},
        "at": {"wavenumber": 1.1},
        "mirrored": {"plane": "z"},
    }
    yield cal.PlaneWave(X, 1.0), sound
    yield cal.PointSource([0, 0, 5], 1.0), {**sound, "far_field": ANGLES}
    yield cal.Multipole([0, 0, 5], [1.0], 1.0), {**sound, "far_field": ANGLES}
    measured = {"position": [0, 0, 5], "points": POINTS, "pressures": [1.0, 2.0], "order": 0, "wavenumber": 1.0}
    yield cal.Multipole, {"fit": measured}
    pulse = cal.TransientPlaneWave(X, Z, 1e9)
    yield pulse, {name: {"points": POINTS, "time": 1e-9} for name in ("electric", "magnetic")}
    for dispersive in (cal.planar.Conductor(5.8e7), cal.planar.SurfaceImpedance(1.0)):
        yield dispersive, {"impedance": {"frequency": 1e9}}
    yield cal.Lumped(cal.DeltaGap(between=(1, 2)), 1.0), {"impedance_at": {"frequency": 1e9}}
    yield cal.Layer(1e-3, eps_r=2.0), {"permittivity": {"frequency": 1e9}}
    yield cal.Stack([cal.Layer(1e-3)], below="pec"), {"at": {"frequency": 1e9}, "surface_waves": {"count": 2}}
    operator = cal.single_layer(cal.Laplace(), space)
    matrix, saved = operator.assemble("hmatrix", rtol=1e-3), FOLDER / "matrix.h5"
    yield matrix, {"save": {"path": saved}}
    matrix.save(saved)
    yield type(matrix), {"load": {"path": saved}}
    for factors in (cal.hlu(matrix, 1e-2), cal.lu(np.eye(space.dimension) + 0.1)):
        yield factors, {"solve": {"b": np.ones(space.dimension), "adjoint": False}}


def sound_and_potentials() -> Iterator[tuple[Any, Methods]]:
    """Scattering of sound, statics, their solutions."""
    mesh = sphere()
    wave, options = cal.PlaneWave(X, 1.0), {"method": "dense", "rtol": 1e-4}
    sound, static = cal.SoundHardScattering(mesh, 1.0, speed_of_sound=1500.0), cal.LaplaceDirichlet(mesh)
    yield sound, {
        "at": {"wavenumber": 1.1},
        "plan": {"method": "auto", "rtol": 1e-5, "compression_rtol": 1e-6, "precision": "double"},
        "solve": {
            "data": wave, **options, "compression_rtol": None, "solver": "gmres", "precision": "double",
            "backend": "numba", "preconditioner": "osrc", "maxiter": 100, "progress": False, "keep_on_device": False,
            "matrix_file": None,
        },
        "monostatic_target_strength": {**ANGLES, **options, "info": False, "sweep_file": None},
        "solve_all": {"data": [wave], **options}, "sweep": {"frequencies": [50.0], "wave": wave, **options},
    }  # fmt: skip
    steel = cal.ElasticMaterial.from_wave_speeds(7700.0, 5950.0, 3240.0)
    elastic = cal.ElasticScattering(tetrahedra(), 1.0, material=steel, fluid=cal.Fluid.water())
    yield elastic, {
        "at": {"wavenumber": 1.1}, "modes": {"number": 2}, "response_at": {"omega": 100.0},
        "sweep": {"frequencies": [50.0], "wave": wave, **options},
        "monostatic_target_strength": {**ANGLES, **options},
    }  # fmt: skip
    yield cal.FluidTransmission(mesh, 1.0, 1.2, 2.0), {"at": {"wavenumber": 1.1}}
    yield cal.InhomogeneousScattering(tetrahedra(), 1.0, interior_wavenumber=2.0), {"at": {"wavenumber": 1.1}}
    yield static, {
        "solve": {"data": 1.0, **options}, "solve_all": {"data": [1.0]},
        "capacitance_matrix": {"conductors": None, "permittivity": 1.0, **options},
    }  # fmt: skip
    solution, fixed = sound.solve(wave), static.solve(1.0)
    near = {"points": ONE, "backend": "numba", "precision": "double"}
    power = {"density": 1000.0, "speed_of_sound": 1500.0}
    yield solution, {
        "field": near, "scattered": near, "gradient": near, "far_field": {**ANGLES, "backend": "numba"},
        "far_field_arrays": ANGLES, "far_field_data": ANGLES, "target_strength": ANGLES, "absorbed_power": power,
        "radiated_power": power, "save": {"path": FOLDER / "sound.h5"}, **everywhere(solution),
    }  # fmt: skip
    yield fixed, {"field": near, "gradient": near}
    moving = cal.AcousticProblem(mesh, 1.0, fluid=cal.Fluid.water(), conditions=cal.Velocity(1.0))
    yield moving, {
        "at": {"wavenumber": 1.1}, "plan": {"method": "auto", "rtol": 1e-5},
        "solve": {"sources": None, "decompose": False, **options}, "transfer_vectors": {"points": ONE, **options},
        "sweep": {
            "frequencies": [50.0], "sources": None, "points": None, "quantities": None, "interpolate": None,
            "sweep_file": None, "decompose": False, **options,
        },
        "solve_all": {"data": [None], "decompose": False, **options},
    }  # fmt: skip
    hertz = 10.0 * np.arange(1, 11)
    delay = np.exp(2j * np.pi * hertz * 5 / 210)
    swept = SweptValues(hertz, delay, hertz, delay)
    yield swept, {"impulse_response": {"rate": 210.0}}
    yield swept.impulse_response(210.0), {
        "response": {"signal": [1.0, 2.0]}, "write_wav": {"path": FOLDER / "sound.wav", "peak": 0.9},
    }  # fmt: skip
    band, place = 10.0 * np.arange(1, 21), np.array([[0, 1.0, 0]])
    ear = HeadTransfer(
        frequencies=band, values=np.ones((20, 1, 1), complex), ears=("left",), ear_points=place, sources=3 * place,
        far=False, centre=np.zeros(3), speed_of_sound=343.0, solves=20, error=0.0,
    )  # fmt: skip
    yield ear, {"impulse_response": {"rate": 1000.0, "delay": 0.04, "taper": 1.0}}
    room = cal.AcousticProblem(mesh, 1.0, fluid=cal.Fluid(1.2, 343.0), side="interior")
    yield cal.resonances(room, 80.0, 150.0)[0], {"field": {"points": ONE}}
    cavity = EmptyCavity(cal.PECScattering(mesh, 1.0, formulation="efie"))
    yield cavity.mode(2.7 + 0.0j, np.ones(cavity.unknowns, complex)), {
        "electric": {"points": ONE}, "magnetic": {"points": ONE},
    }  # fmt: skip
    radiated = moving.solve(**options)
    yield radiated, {
        **{name: near for name in ("field", "gradient", "velocity", "intensity", "spl")},
        "far_field": {**ANGLES, "backend": "numba"}, "directivity": ANGLES, "directivity_index": {"direction": Z},
        "far_field_arrays": ANGLES, "far_field_data": ANGLES, "absorbed_power": {"tags": None},
        "radiation_impedance": {"tags": None}, "transfer": {"tag": 0, "points": ONE},
        "beamwidth": {"direction": Z, "toward": X, "drop": 3.0},
    }  # fmt: skip
    yield moving.transfer_vectors(ONE, **options), {
        **{name: {"conditions": cal.Velocity(1.0)} for name in ("pressure", "contributions")}, "transfer": {"tag": 0},
    }  # fmt: skip
    yield cal.Fluid, {
        "air": {"celsius": 20.0, "pressure": 1e5}, "water": {"celsius": 20.0},
        "sea_water": {"celsius": 10.0, "salinity": 35.0, "depth": 100.0},
    }  # fmt: skip
    yield cal.Fluid.air(), {"angular_frequency": {"wavenumber": 1.0}}
    yield cal.Impedance, {
        "relative": {"ratio": 2.0}, "from_absorption": {"alpha": 0.5}, "table": {"frequencies": [1.0], "values": [1.0]},
        "porous": {"flow_resistivity": 1e4, "thickness": 0.05},
        "perforated": {"hole": 1e-3, "thickness": 1e-3, "porosity": 0.01, "cavity": 0.05, "viscosity": 1.8e-5},
    }  # fmt: skip
    pipe = {"length": 1.0, "area": 0.01, "frequency": 100.0, "fluid": cal.Fluid.air()}
    yield cal.FourPole, {"pipe": pipe}
    parted = cal.TriangleMesh(mesh.vertices, mesh.triangles, (mesh.centroids[:, 2] > 0).astype(int))
    duct = cal.AcousticProblem(parted, 1.0, fluid=cal.Fluid(1.2, 343.0), side="interior")
    yield duct, {"four_pole": {"inlet": 0, "outlet": 1, **options}}
    part = cal.FourPole.pipe(**pipe)
    yield part, {"insertion_loss": {"replaced": part, "source": 1e4, "load": 4e4}}
    layers = cal.ViscothermalWall(1.5e-5, 1.4, 0.7)
    yield layers, {"thickness": {"omega": 1e3, "fluid": cal.Fluid.air()}}
    table = FOLDER / "velocities.csv"
    table.write_text("\n".join(["x, y, z, v", *(f"{x}, {y}, {z}, 1.0" for x, y, z in mesh.vertices.tolist())]) + "\n")
    yield cal.Velocity, {
        "rigid": {"translation": Z, "rotation": X, "centre": Z},
        "from_file": {
            "path": table, "mesh": mesh, "tags": None, "name": "velocity", "scale": 1.0, "unit": 1.0,
            "time_factor": "exp(-i omega t)", "tolerance": 0.1,
        },
    }  # fmt: skip
    yield solution.at_points(POINTS), {"write": {"path": FOLDER / "samples.csv"}}
    yield solution.far_field_arrays(**ANGLES), {"write_csv": {"path": FOLDER / "pattern.csv"}}


def statics() -> Iterator[tuple[Any, Methods]]:
    """Static fields in several materials."""
    mesh = cal.mesh.joined({"core": sphere(), "coat": sphere().scaled(2.0)})
    metal = {"core": "core", "coat": "coat"}
    charge, dipole = cal.PointCharge([0, 0, 1.5], 1e-9), cal.StaticDipole([0, 0, 1.5], Z)
    oil = cal.StaticProblem(mesh, {"oil": cal.Region(["core", "coat"], permittivity=2.0)}, metal)
    given = {"voltages": {"core": 1.0}, "charges": {"coat": 0.0}}
    curve = cal.MagnetizationCurve([0, 100.0, 1e5], [0, 1.0, 2.0])
    yield curve, {"flux_density_at": {"strength": X}}
    yield oil, {
        "solve": {**given, "sources": [charge], "densities": None, "method": "dense"},
        "sweep": {"materials": {"oil": [2.0, 3.0]}, **given, "sources": [charge], "densities": None},
        "capacitance_matrix": {"solver": "lu"},
    }  # fmt: skip
    solid = cal.StaticProblem(mesh, {"oil": cal.Region(["core", "coat"], conductivity=2.0)}, metal, outside=None)
    yield solid, {
        "resistance": {"a": "core", "b": "coat"}, "conductance_matrix": {"solver": "lu"},
        "lead_field": {"electrodes": [[0, 0, 2.0]], "places": [[0, 0, 1.5]]},
    }  # fmt: skip
    options = {"method": "dense", "rtol": 1e-4, "solver": "lu"}
    yield cal.InhomogeneousPotential(tetrahedra(), 2.0, electrodes={"skin": "wall"}, space="P1"), {
        "solve": {"data": None, "voltages": {"skin": 1.0}, "charges": None, **options}, "capacitance_matrix": options,
    }  # fmt: skip
    deck = FOLDER / "deck.qui"
    deck.write_text("0 two squares\nQ a 0 0 0 1 0 0 1 1 0 0 1 0\nQ b 0 0 1 1 0 1 1 1 1 0 1 1\n")
    ball = sphere()
    rows = [f"{x} {y} {z} 0 0 1" for x, y, z in ball.vertices.tolist()]
    corners = ["{} {} {}".format(*each) for each in ball.triangles.tolist()]
    count = len(corners)
    (FOLDER / "a.tri").write_text("\n".join([f"- {len(rows)}", *rows, f"- {count} {count} {count}", *corners]) + "\n")
    head, sigma, ion = FOLDER / "a.geom", FOLDER / "a.cond", FOLDER / "a.pqr"
    head.write_text("# Domain Description 1.1\nInterfaces 1\nInterface a: a.tri\nDomains 1\nDomain b: -a\n")
    sigma.write_text("b 1.0\n")
    ion.write_text("ATOM 1 O MOL 1 0 0 0 -0.5 1.5\n")
    chip, layers = FOLDER / "a.gds", FOLDER / "stack.toml"
    library = gdstk.Library()
    library.new_cell("a").add(gdstk.rectangle((0, 0), (1, 1)), gdstk.Label("b", (0.5, 0.5)))
    library.write_gds(chip)
    layers.write_text('layer = [{ name = "m", bottom = 0, height = 1e-6, number = 0, metal = true }]')
    yield cal.LayoutStack, {"read": {"path": layers}}
    yield cal.StaticProblem, {
        "from_fastcap": {"path": deck, "space": "P1"},
        "from_layout": {"path": chip, "stack": layers, "h": 1e-6, "cell": None, "space": "P1"},
        "from_openmeeg": {"geometry": head, "conductivities": sigma, "scale": 1.0, "space": "P1"},
    }  # fmt: skip
    yield cal.Molecule, {"read": {"path": ion}}
    yield cal.Molecule.read(ion), {"surface": {"h": 1e-10}}
    nerve = cal.StaticProblem(ball, {"b": cal.Region("all", conductivity=1.0)}, outside=None)
    yield nerve.solve(sources=[cal.StaticDipole([0, 0, 0.1], Z)]), {"magnetic_field": {"points": POINTS}}
    solution = oil.solve(**given)
    near = {"points": [[0, 0, 1.5]], "backend": "numba", "precision": "double"}
    yield solution, {
        "field": near, "gradient": near, "field_strength": {"points": POINTS}, "flux_density": {"points": POINTS},
        "torques": {"centre": [0, 0, 0]},
    }  # fmt: skip
    for source in (charge, dipole):
        yield source, {"potential": {"x": POINTS, "decay": 0.0}, "gradient": {"x": POINTS, "decay": 0.0}}
    yield cal.UniformField(Z), {"potential": {"x": POINTS}, "gradient": {"x": POINTS}}
    loop = cal.CurrentPath.loop(1.0, 2.0)
    yield loop, {"magnetic_field": {"x": POINTS}}
    yield cal.CurrentPath, {"loop": {"radius": 1.0, "current": 1.0, "centre": [0, 0, 0], "axis": Z}}


def radar() -> Iterator[tuple[Any, Methods]]:
    """Scattering of electromagnetic waves, and antennas."""
    mesh, k = sphere(), {"wavenumber": 1.1}
    wave, options = cal.PlaneWave(X, 1.0, polarization=Z), {"method": "dense", "rtol": 1e-4}
    metal, glass = cal.PECScattering(mesh, 1.0), cal.DielectricScattering(mesh, 1.0, 2.0)
    echo = {**ANGLES, "polarization": "VV", **options}
    yield metal, {
        "at": k, "monostatic_rcs": echo, "scattering_amplitude": echo,
        "monostatic_sweep": {"frequencies": [5e7], **ANGLES, "polarizations": ["VV"], **options},
        "sweep": {"frequencies": [5e7], "wave": wave, **options},
    }  # fmt: skip
    near = {"points": ONE, "backend": "numba", "precision": "double"}
    fields = {name: near for name in ("electric", "magnetic", "field")}
    scattered = {name: near for name in ("scattered_electric", "scattered_magnetic")}
    far = {"far_field": {**ANGLES, "backend": "numba"}, "far_field_arrays": ANGLES, "far_field_data": ANGLES}
    solution = metal.solve(wave)
    saved = {"save": {"path": FOLDER / "echo.h5"}}
    shield = {"shielding_effectiveness": {"points": POINTS, "field": "electric"}}
    yield solution, {**fields, **scattered, **far, "rcs": {**ANGLES, "polarization": "V"}, **saved, **shield}
    yield solution.currents, {name: near for name in ("electric", "magnetic")} | {"far_field": ANGLES}
    inside = glass.solve(wave)
    yield inside, {
        **fields, **scattered, "absorbed_power": {"by": "auto"}, "absorption_cross_section": {"by": "auto"},
        "region_numbers": {"points": POINTS},
    }  # fmt: skip
    tissue = cal.Material(2.0, conductivity=0.01, density=1000.0)
    body = cal.DielectricScattering(mesh, frequency=cal.exact.SPEED_OF_LIGHT / (2 * np.pi), permittivity=tissue)
    yield body.solve(wave), {"local_sar": {"points": [[0.1, 0.2, 0.3]]}, "averaged_sar": {"mass": 100.0, "voxel": 0.4}}
    surfaces, media = {0: cal.Interface("air", "body")}, {"air": cal.Material(), "body": cal.Material(2.0)}
    composite = cal.MaxwellProblem(mesh, regions=media, surfaces=surfaces, wavenumber=1.0)
    yield composite, {"at": k, "sweep": {"frequencies": [5e7], "wave": wave, **options}}
    yield composite.solve(wave), {"region_names": {"points": POINTS}, "electric": near}
    yield cal.characteristic_modes(metal, 1)[0], {"far_field": ANGLES}
    gap = cal.DeltaGap(between=(1, 2))
    strip = cal.MaxwellProblem(
        plate(), regions={"air": cal.Material()}, surfaces={1: cal.Sheet("air"), 2: cal.Sheet("air")}, ports=gap,
        wavenumber=100.0,
    )  # fmt: skip
    yield strip, {
        "connected": {"network": [[0.02]], "ports": gap}, "embedded": {"reference": 50.0, **options},
        "sweep": {"frequencies": 4e9, "wave": 5e9, "points": 3, "reference": 50.0, "interpolate": 1e-3},
        "admittance_matrix": options, "impedance_matrix": options, "scattering_matrix": {"reference": 50.0, **options},
    }  # fmt: skip
    antenna = cal.PECAntenna(plate(), 100.0, cal.DeltaGap(between=(1, 2)))
    line = cal.Line(75.0, 0.3)
    yield line, {"admittance_at": {"frequency": 1e8}}
    yield cal.Circuit(line, [gap, gap]), {"admittance_at": {"frequency": 1e8}}
    yield antenna, {
        "connected": {"network": [[0.02]], "ports": gap},
        "at": k, "solve": {"voltages": 1.0, **options}, "solve_all": {"data": [1.0]}, "admittance_matrix": options,
        "impedance_matrix": options, "scattering_matrix": {"reference": 50.0, **options},
        "sweep": {"frequencies": [5e9], "voltages": 1.0, "reference": 50.0},
    }  # fmt: skip
    gain = {**ANGLES, "polarization": None, "decibels": True}
    yield antenna.solve(1.0), {
        **fields, **far, "available_power": {"reference": 50.0}, "directivity": gain, "gain": gain,
        "far_field_arrays": {**ANGLES, "reference": 50.0}, "far_field_data": {**ANGLES, "reference": 50.0},
        "pattern": {"theta": [0.1, 0.2], "phi": [0.0], "reference": 50.0},
        "realized_gain": {**gain, "reference": 50.0}, "reflection_coefficient": {"reference": 50.0},
        "write_far_field": {"path": FOLDER / "antenna.ffe", "theta": [0.1, 0.2], "phi": [0.0], "reference": 50.0},
    }  # fmt: skip


def wires() -> Iterator[tuple[Any, Methods]]:
    """Antennas of wires, and their solutions."""
    wire = cal.Wire([[0, 0, -0.5], [0, 0, 0.5]], 1e-3, 6, cal.planar.Conductor(1e6))
    yield wire, {"impedance": {"frequency": 1e8}}
    antenna = cal.WireAntenna(wire, cal.WireGap([0, 0, 0]), 1e8)
    yield antenna, {
        "connected": {"network": [[0.02]], "ports": cal.WireGap([0, 0, 0])}, "embedded": {"reference": 50.0},
        "at": {"frequency": 1e8}, "matrix": {}, "solve": {"data": 1.0}, "solve_all": {"data": [1.0]},
        "admittance_matrix": {}, "impedance_matrix": {}, "scattering_matrix": {"reference": 50.0},
        "sweep": {"start": 1e8, "stop": 1.1e8, "points": 3, "reference": 50.0, "rtol": 1e-3},
    }  # fmt: skip
    beam = {"theta": 0.1, "phi": 0.0, "amplitudes": 1.0, "polarization": "V"}
    yield antenna.embedded(), {
        "far_fields": ANGLES, "generators": beam, "steered": beam, "fed": {"generators": 1.0},
        "active_reflection": {"generators": 1.0}, "received": {**ANGLES, "polarization": "V", "amplitude": 1.0},
    }  # fmt: skip
    far, gain = {**ANGLES}, {**ANGLES, "polarization": None, "decibels": True}
    yield antenna.solve(), {
        "electric": {"points": ONE}, "magnetic": {"points": ONE}, "field": {"points": ONE}, "far_field": far,
        "gain": gain, "directivity": gain, "reflection_coefficient": {"reference": 50.0},
        "save": {"path": FOLDER / "wires.h5"},
    }  # fmt: skip
    deck = FOLDER / "fed.nec"
    deck.write_text("GW 1 5 0 0 -0.5 0 0 0.5 1e-3\nGE 0\nEX 0 1 3 0 1 0\nEN\n")
    yield cal.read_nec(deck), {"antenna": {"frequency": 1e8}, "solve": {"frequency": 1e8}}


def solids() -> Iterator[tuple[Any, Methods]]:
    """Elastic solids, bonded ones, and their solutions."""
    material, options = cal.ElasticMaterial(**STEEL), {"method": "dense", "rtol": 1e-4, "backend": "numba"}
    solid = cal.ElasticSolid(sphere(), material, loads={0: cal.Pressure(1e6)})
    cases = {"cases": {"a": cal.elastic.LoadCase({0: cal.Pressure(1e6)})}}
    loads = {0: cal.Pressure(1e6)}
    yield solid, {
        "solve": {"data": loads, **options}, "solve_all": {"data": [loads], **options},
        "plan": {"method": "auto", "rtol": 1e-4}, "solve_cases": {**cases, **options}, "with_loads": {"data": loads},
    }  # fmt: skip
    yield material, {"stress_of": {"gradient": np.eye(3)}}
    yield cal.elastic.BoltPreload, {"between": {"mesh": bars()[0].mesh, "first": 5, "second": 6, "force": 10.0}}
    speeds = {"density": 7700.0, "longitudinal": 5950.0, "shear": 3240.0, "loss_factor": 0.01}
    yield cal.ElasticMaterial, {"from_wave_speeds": speeds}
    solution = solid.solve(method="dense")
    yield solution, {
        "field": {"points": [[0.1, 0, 0]]}, "stress": {"points": [[0.1, 0, 0]]},
        "save": {"path": FOLDER / "solid.h5"}, "write": {"path": FOLDER / "solid.vtu"},
    }  # fmt: skip
    low, high = bars()
    bonded, loads = cal.BondedSolids({"low": low, "high": high}), {"high": {6: cal.Pressure(1e6)}}
    yield bonded, {
        "solve": {"data": loads, **options}, "solve_all": {"data": [loads], **options},
        "plan": {"method": "auto", "rtol": 1e-4}, "solve_cases": {"cases": {"a": loads}, **options},
        "with_loads": {"data": loads},
    }  # fmt: skip
    yield bonded.solve(method="dense"), {
        "save": {"path": FOLDER / "bonded.h5"}, "at_points": {"points": [[0.1, 0.1, 0.1]]},
    }  # fmt: skip


@functools.cache
def bars() -> tuple[Any, Any]:
    """Two cubes, one on the other."""
    material, cube = cal.ElasticMaterial(**STEEL), cal.mesh.cube(1.0, 1.0)
    z = cube.centroids[:, 2]
    cube = cal.TriangleMesh(cube.vertices, cube.triangles, np.where(z > 0.49, 6, np.where(z < -0.49, 5, 0)))
    return cal.ElasticSolid(cube, material, {5: cal.elastic.Fixed()}), cal.ElasticSolid(cube.translated(Z), material)


def boards() -> Iterator[tuple[Any, Methods]]:
    """Planar circuits, periodic cells, reflectarrays."""
    gap, hertz = cal.DeltaGap(between=(1, 2)), {"frequency": 1e9}
    board = cal.PlanarProblem(cal.Stack(), plate(), [gap])
    yield board, {
        **{name: hertz for name in ("admittance_matrix", "currents", "impedance_matrix", "matrix", "plan")},
        "line_parameters": hertz, "line_waves": hertz,
        "monostatic_rcs": {**hertz, **ANGLES, "polarization": "VV"},
        "at": hertz, "scatter": {**hertz, **ANGLES, "polarization": "V"},
        "scattering_matrix": {**hertz, "reference": 50.0}, "solve": {**hertz, "voltages": 1.0},
        "solve_all": {**hertz, "voltages": [[1.0]]},
        "sweep": {"start": 1e9, "stop": 1.1e9, "points": 3, "reference": 50.0, "interpolate": 1e-2},
    }  # fmt: skip
    solution, near = board.solve(1e9), {"points": [[0.0, 0.0, 1.0]]}
    shown = {**ANGLES, "decibels": True}
    yield solution, {
        "available_power": {"reference": 50.0}, "axial_ratio": shown, "directivity": shown, "gain": shown,
        "beam_width": {"phi": 0.0, "level": 3.0}, "main_lobe": {"normal": [0, 0, 1]},
        "electric": near, "magnetic": near, "far_field": ANGLES,
        "pattern": {"theta": [0.1, 0.2], "phi": [0.0], "reference": 50.0}, "save": {"path": FOLDER / "board.h5"},
        "write_far_field": {"path": FOLDER / "board.ffe", "theta": [0.1, 0.2], "phi": [0.0], "reference": 50.0},
    }  # fmt: skip
    yield board.scatter(1e9, **ANGLES), {
        "electric": near, "magnetic": near, "far_field": ANGLES, "rcs": {**ANGLES, "polarization": "V"},
        "save": {"path": FOLDER / "echo_of_board.h5"},
    }  # fmt: skip
    yield board.sweep(1e9, 1.1e9, 3, interpolate=1e-2), {
        "renormalised": {"z0": 75.0}, "write_touchstone": {"path": FOLDER / "board.s1p"},
    }  # fmt: skip
    f = np.linspace(1e6, 2e9, 201)
    z = 20.0 - 2j * np.pi * f * 1e-8  # a coil of 10 nH with 20 ohm
    s = np.reshape((z - 50.0) / (z + 50.0), (-1, 1, 1))
    coil, steps = PortSweep(f, s, 50.0, f, s, 0.0), {"times": [0.0, 1e-9, 2e-9], "generators": [0.0, 1.0, 1.0]}
    yield coil, {"spice": {"path": FOLDER / "coil.sp"}, "transient": steps}
    yield coil.circuit_model(), {
        "scattering": {"frequencies": 1e8}, "transient": steps,
        "write_spice": {"path": FOLDER / "model.sp", "name": "coil"},
    }  # fmt: skip
    cell, came = cal.PeriodicCell(plate(), [0.03, 0.03], cal.Stack()), {**hertz, **ANGLES, "side": "above"}
    yield cell, {name: came for name in ("reflection", "transmission", "solve", "sweep", "plan")}
    yield cell.solve(1e9), {"current": {"polarisation": "TE"}, "save": {"path": FOLDER / "cell.h5"}}
    yield cell.sweep([1e9, 2e9]), {"phase": {"polarisation": "TE"}}
    array = cal.ReflectArray(
        element=lambda size: cal.planar.patch(size, size, 1e-2, z=1e-3), sizes=[4e-3, 8e-3], period=0.01, count=(2, 2),
        frequency=1e10, focus=[0, 0, 0.1], stack=cal.Stack([cal.Layer(1e-3)], below="pec"),
    )  # fmt: skip
    yield array, {"scatter": {"method": "dense", "grid": None}, "plan": {"method": "dense"}}


def transients() -> Iterator[tuple[Any, Methods]]:
    """Fields in time."""
    frequencies, names = [1e7], {"electric": steady, "magnetic": steady}

    def simulation() -> Any:
        tissue = cal.Material(permittivity=2.0, conductivity=0.1, density=1000.0)
        made = cal.MaxwellDG(tetrahedra(), order=1, materials=dict.fromkeys(tetrahedra().material_names(), tissue))
        made.set_fields(steady, steady)
        return made

    ran = simulation()
    transform = ran.add_transform(frequencies)
    ran.run(until=1e-9)
    yield ran, {
        "electric": {"points": [[0.1, 0.2, 0.3]]}, "magnetic": {"points": [[0.1, 0.2, 0.3]]}, "l2_error": names,
        "steps_per_period": {"frequency": 1e7}, "require_tissue": {"mass": 1.0, "voxel": 0.1}, "set_fields": names,
    }  # fmt: skip
    yield transform, {"fields": {"frequency": 1e7, "per": None}}
    made: dict[str, dict[str, Any]] = {
        "add_probe": {"points": [[0.1, 0.2, 0.3]], "stride": 1}, "add_transform": {"frequencies": [1e7], "stride": 1},
        "add_snapshots": {"folder": FOLDER / "snapshots", "stride": 1, "first": 1},
        "run": {
            "until": 1e-9, "progress": False, "checkpoint": FOLDER / "run.h5", "checkpoint_seconds": 60.0,
            "keep_checkpoint": False,
        },
        "run_until_periodic": {"frequency": 1e7, "periods": 2, "progress": False},
    }  # fmt: skip
    yield Fresh(simulation), made
    source = cal.CurrentSource("a", X, cal.GaussianPulse(1e-8))
    fed = cal.MaxwellDG(parts(), 1, materials=dict.fromkeys("ab", cal.Material()), sources=[source])
    fed.run(until=1e-7)
    (port,) = fed.ports.values()
    yield port, {
        "spectrum": {"frequency": 1e7}, "driven": {"frequency": 1e7}, "amplitudes": {"frequency": 1e7, "count": 10},
    }  # fmt: skip
    yield port.spectrum(1e7), {"scaled": {"factor": 2.0}}
    periodic = simulation().run_until_periodic(1e7, periods=2)
    yield periodic, {
        "electric": {"points": [[0.1, 0.2, 0.3]]}, "magnetic": {"points": [[0.1, 0.2, 0.3]]},
        "field": {"points": [[0.1, 0.2, 0.3]]}, "scaled": {"factor": 2.0}, "write": {"path": FOLDER / "periodic.vtu"},
        "local_sar": {"points": [[0.1, 0.2, 0.3]]}, "averaged_sar": {"mass": 1.0, "voxel": 0.1},
    }  # fmt: skip
    yield periodic.averaged_sar(1.0, 0.1), {"at": {"points": [[0.1, 0.2, 0.3]]}}
    around = {"radius": 0.3, "center": [0.5, 0.5, 0.5]}
    wave, cells = cal.TransientPlaneWave(X, Z, 1e7), cal.mesh.box([0, 0, 0], [1, 1, 1], cells=4)
    lit = cal.MaxwellDG(cells, 1, materials={}, boundaries={"wall": "absorbing"}, sources=[wave])
    yield lit.run_until_periodic(1e7, periods=2), {
        "far_field": {**ANGLES, **around}, "radiated_power": around, "rcs": {**ANGLES, "polarization": None, **around},
    }  # fmt: skip


class Fresh:
    """A new object for each call of a method."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make, self.kind = make, type(make())

    def __getattr__(self, name: str) -> Callable[..., Any]:
        @functools.wraps(getattr(self.kind, name))
        def call(**arguments: Any) -> Any:
            return getattr(self.make(), name)(**arguments)

        return call


def exact_fields() -> Iterator[tuple[Any, Methods]]:
    """Series and closed forms."""
    points = {"points": POINTS}
    mode = cal.exact.cubic_cavity((1, 1, 0), 1.0)
    yield mode, {name: {"points": [[0.1, 0.2, 0.3]], "time": 0.1} for name in ("electric", "magnetic")}
    yield cal.exact.hertz_dipole(1.0, Z), {"electric": points, "magnetic": points, "far_field": ANGLES}
    ball = cal.exact.mie_dielectric_sphere(1.0, 1.0, 2.0)
    fields = ("electric", "magnetic", "incident_electric", "incident_magnetic", "scattered_electric")
    yield ball, {
        **{name: points for name in (*fields, "scattered_magnetic")}, "far_field": ANGLES,
        "rcs": {**ANGLES, "polarization": "V"},
    }  # fmt: skip
    sound = {"scattered": points, "incident": points, "total": points, "scattered_radial_derivative": points}
    surface = {name: {"points": [X]} for name in ("surface_pressure", "surface_normal_derivative", "interior")}
    far = {"far_field": ANGLES, "target_strength": ANGLES}
    yield cal.exact.fluid_sphere(1.0, 1.0, 2.0, 2.0, X), {**sound, **far, **surface}
    layered = cal.exact.layered_fluid_sphere(1.0, [0.5, 1.0], [2.0, 3.0], [2.0, 2.0], X)
    yield layered, {**sound, **far, "interior": {"points": [X]}}
    steel = cal.ElasticMaterial.from_wave_speeds(7700.0, 5950.0, 3240.0)
    yield cal.exact.elastic_sphere(1.0, 1.0, steel, cal.Fluid.water(), X), far
    sources = cal.exact.point_sources([[0, 0, 0]], [1.0], 1.0)
    yield sources, {"gradient": {"x": POINTS}, "normal_derivative": {"x": POINTS, "n": [Z, Z]}, "far_field": ANGLES}
    medium = {"density": 1.0, "sound_speed": 300.0}
    yield cal.exact.radiating_sphere(1.0, 1.0), {
        "far_field": ANGLES, "radial_derivative": points, "radiated_power": medium, "complex_power": medium,
    }  # fmt: skip


SOURCES = (meshes, sound_and_potentials, statics, radar, wires, solids, boards, transients, exact_fields)
