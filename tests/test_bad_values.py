"""Nonsense instead of arguments of public constructors, functions and methods: a documented error or a result."""

import ast
import fractions
import functools
import inspect
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import calderon as cal
import calderon.formulations as results
import valid_calls

PACKAGE = Path(cal.__file__).parent
BAD = (
    None, True, False, "x", "", b"x", 1j, float("nan"), float("inf"), 0, -1, 1e300, 1e-300, 10**400, -(10**400),
    2.5, [], [1], [[1, 2], [3]], np.array(["a"]), object(), {}, {"a": 1}, set(), (1, 2), np.float32("nan"),
    [float("nan")] * 3, np.ma.masked_array([1.0, 2, 3], [0, 1, 0]), np.array([[True]]), [1e300] * 3, [None], range(0),
    np.datetime64("2020-01-01"), [True, True, False], fractions.Fraction(1, 3), np.int64(3),
)  # fmt: skip
WITHOUT = {
    "AccuracyWarning", "ConvergenceError", "DamagedFile", "Fixed", "Laplace", "MeshError", "MeshWarning", "Rigid",
    "available_backends",
}  # fmt: skip
"""Public names that have no arguments to replace."""
CALLED_BY_EQUATIONS = {
    "BearingLoad", "BodyLoad", "DeltaGap", "EdgePort", "Elastostatic", "Fixed", "Force", "Gravity", "Helmholtz",
    "Laplace", "LinePort", "Load", "Metal", "ModifiedHelmholtz", "Moment", "PointMass", "Prescribed", "Pressure",
    "ProbePort", "Quadrature", "RemoteStress", "RigidMotion", "Roller", "Sheet", "Spin", "SteadyTemperature",
    "Structure", "Support", "TemperatureChange", "Traction", "WireGap",
}  # fmt: skip
"""Classes whose methods equations call, with points, spaces and materials that they have checked."""
WITHOUT_METHODS = {
    "Impedance.at", "Velocity.at", "Board.local_part", "Board.warn_of_coarse_meshes", "ElasticMaterial.required",
    "BoltPreload.traction", "BoltPreload.wrench", "ElasticScattering.operator", "ElasticScattering.surface_fields",
    "LoadCase.of", "Material.at_one_frequency", "PortSweep.to_skrf", "VolumeSpace.mass_matrix",
    "ElasticSolid.surface_fields", "ElasticSolid.temperature", "Exchange.from_gmsh",
    "Exchange.from_pyvista", "Exchange.from_trimesh", "TriangleMesh.flat_triangles", "TriangleMesh.geometry",
    "Viewable.show", "Viewable.view", "HeadTransfer.write_sofa", "Region.in_kind", "StaticSolution.of",
}  # fmt: skip
"""Further ones, those that need other packages, and those that open a window."""


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """For files whose path is one of these values."""
    monkeypatch.chdir(tmp_path)


@functools.cache
def raising_lines(file):
    """The lines of a file that belong to a raise statement."""
    found = set()
    for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise):
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def is_documented(error):
    """Whether the package itself raises an error of a kind that its docstrings name."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    own = Path(last.filename).is_relative_to(PACKAGE) and last.lineno in raising_lines(last.filename)
    return own and isinstance(error, ValueError | TypeError | IndexError | MemoryError | OSError | RuntimeError)


def complaints(call):
    """Complaints about the answers to nonsense in each argument."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call.function(**call.arguments)
        warnings.filterwarnings("error", category=RuntimeWarning)
        for name in call.arguments:
            for value in BAD:
                try:
                    result = call.function(**{**call.arguments, name: value})
                except Exception as error:
                    if not is_documented(error):
                        found.append(f"{call.name}({name}={value!r}): {type(error).__name__}: {error}"[:300])
                else:
                    if isinstance(result, np.ndarray) and result.dtype.kind in "fc" and np.isnan(result).any():
                        found.append(f"{call.name}({name}={value!r}) has NaN")
    return found


@functools.cache
def calls(*sources):
    """Valid calls, which solve problems: made once."""
    return [call for source in sources for call in getattr(valid_calls, source)()]


SOURCES = (
    "constructors",
    *(pytest.param(each, marks=pytest.mark.variant) for each in ("shapes", "operations", "methods")),
)


@pytest.mark.parametrize("source", SOURCES)
def test_nonsense_is_refused_in_words(source):
    assert not [text for call in calls(source) for text in complaints(call)]


def methods_of(kind):
    """The methods of a class that are called with arguments, by their own name; one that is inherited counts once."""
    for name, method in inspect.getmembers(kind, lambda found: inspect.isfunction(found) or inspect.ismethod(found)):
        own = (method.__module__ or "").startswith("calderon")
        if own and not name.startswith("_") and set(inspect.signature(method).parameters) - {"self", "cls"}:
            yield getattr(method, "__func__", method).__qualname__


@pytest.mark.variant
def test_every_public_method_with_arguments_has_a_valid_call():
    named = [*valid_calls.public_names().values(), *(getattr(results, name) for name in results.__all__)]
    public = {method for kind in named if inspect.isclass(kind) for method in methods_of(kind)}
    walked = {getattr(call.function, "__func__", call.function).__qualname__ for call in calls("methods")}
    left = {method for method in public - walked if method.split(".")[0] not in CALLED_BY_EQUATIONS}
    assert left == WITHOUT_METHODS


def test_every_public_name_with_arguments_has_a_valid_call():
    named = {call.name for call in calls("constructors", "operations")}
    shapes = set(cal.mesh.planar.__all__)  # called as shapes of meshes
    public = {name for name, value in valid_calls.public_names().items() if callable(value)} - shapes
    assert public - named == WITHOUT


def test_booleans_and_texts_are_no_numbers():
    for refused in (
        lambda: cal.mesh.Material(permittivity=True),
        lambda: cal.GaussianPulse(1e-9, delay=float("nan")),
        lambda: cal.Helmholtz("1"),
        lambda: cal.Stack(float("nan")),
        lambda: cal.PlaneWave([1, 0, 0], 1e300),
        lambda: cal.PlaneWave([1, 0, 0], 1e-300),
        lambda: cal.elastic.LoadCase(loads=True),
    ):
        with pytest.raises((ValueError, TypeError)):
            refused()
