"""Slender solids, whose bending amplifies small residuals and small errors of the matrix."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import calderon as cal
from calderon.formulations.elastic.system.accuracy import LIMITS, FinerMatrices, one_two_five, tolerance_of_products
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.options import SolveOptions
from catalogue import cases

STEEL = cal.ElasticMaterial(2.1, 0.3)
GRADIENT = np.array([[0.3, -0.5, 0.8], [0.1, 0.4, -0.2], [0.6, 0.9, -0.7]])
STRAIN = (GRADIENT + GRADIENT.T) / 2
STRESS = STEEL.lame * np.trace(STRAIN) * np.eye(3) + 2 * STEEL.shear_modulus * STRAIN


def plate(thickness, h, low=0.0, high=2.0):
    """A plate from x = low to high; its end at x = 0 is "held", the end at x = 1 has the tag "middle"."""
    mesh = cal.mesh.cuboid((high - low, 1.0, thickness), h)
    moved = mesh.vertices - mesh.bounds[0] + [low, 0.0, 0.0]
    x = moved[mesh.triangles]
    tags = np.where((abs(x[..., 0]) < 1e-9).all(axis=1), 1, np.where((abs(x[..., 0] - 1) < 1e-9).all(axis=1), 2, 0))
    return cal.TriangleMesh(moved, mesh.triangles, tags, {"free": 0, "held": 1, "middle": 2})


def linear_solid(mesh, **options):
    """Held at one end in a linear displacement, with its tractions elsewhere, but not at "middle"."""
    load = cal.Traction(lambda x, n: n @ STRESS.T)
    supports = {"held": cal.elastic.Prescribed(lambda x: x @ GRADIENT.T)} if (mesh.tags == 1).any() else {}
    return cal.ElasticSolid(mesh, STEEL, supports, {"free": load}, **options)


def error(solution):
    exact = solution.displacement.space.scalar.nodes @ GRADIENT.T
    return np.linalg.norm(solution.displacement.at_nodes - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize(("method", "space"), cases([("fmm", "P1"), ("dense", "P2")], [("fmm", "P1")]))
def test_a_linear_displacement(method, space):
    """Plates of 40:1: with a residual of 1e-5 and the first matrix the errors are 2.9 and 0.5 %."""
    solution = linear_solid(plate(0.05, 0.35), space=space).solve(method=method)
    info = solution.info
    assert error(solution) < (2e-3 if space == "P2" else 1e-3)
    assert info.amplification > 1e3 and info.amplification * info.rotation_error < LIMITS.doubtful
    assert "slender parts need" in info.matrix
    assert "amplified by bending up to" in str(info)


@pytest.mark.variant
def test_bonded_parts():
    """The plate is made of two parts."""
    parts = {"one": linear_solid(plate(0.05, 0.35, 0.0, 1.0)), "two": linear_solid(plate(0.05, 0.35, 1.0, 2.0))}
    solution = cal.BondedSolids(parts).solve(method="fmm")
    for part in solution.values():
        assert error(part) < 2e-3
        assert part.info.amplification > 1e3


def test_stout_solids_need_nothing_else():
    mesh = cal.mesh.cube(1.0, 0.3)
    tags = np.where(mesh.normals[:, 0] < -0.5, 1, 0)
    cube = cal.TriangleMesh(mesh.vertices, mesh.triangles, tags, {"free": 0, "held": 1, "middle": 2})
    info = linear_solid(cube).solve(method="fmm").info
    assert 1 < info.amplification < 50 and "slender" not in info.matrix


@pytest.fixture(scope="module")
def spring():
    """A leaf spring, 40 times as long as thick, with a force across its end."""
    mesh = cal.mesh.cuboid((20.0, 3.0, 0.5), 1.0)
    x = mesh.centroids[:, 0] - mesh.bounds[0, 0]
    tags = np.where(x < 1e-9, 1, np.where(x > 20 - 1e-9, 2, 0))
    mesh = cal.TriangleMesh(mesh.vertices, mesh.triangles, tags, {"free": 0, "held": 1, "end": 2})
    return cal.ElasticSolid(
        mesh, STEEL, {"held": cal.elastic.Fixed()}, {"end": cal.elastic.Force([0.0, 0.0, -1e-6])}, units="mm-N-MPa"
    )


def test_tractions_that_do_not_balance_the_loads_are_warned_of(spring):
    """One layer of triangles across the thickness: tractions of the clamp have another force than the load."""
    with pytest.warns(cal.AccuracyWarning, match=r"tractions do not balance the loads, .* % of which are left"):
        solution = spring.solve(method="dense")
    assert "finer rules" in solution.info.matrix
    clamp = solution.resultants["held"].force
    assert np.linalg.norm(solution.unbalanced_force - clamp - [0, 0, -1e-6]) < 1e-12
    assert np.linalg.norm(solution.unbalanced_force) > 1e-7
    assert np.linalg.norm(solution.reactions["held"].force + [0, 0, -1e-6]) < 1e-12


@pytest.mark.filterwarnings("ignore:the tractions")
def test_rules_that_are_given_are_kept(spring):
    solid = replace(spring, quadrature=cal.Quadrature(near=1.4))
    with pytest.warns(cal.AccuracyWarning, match=r"slender parts bend easily: .* finer rules"):
        info = solid.solve(method="dense").info
    assert "finer rules" not in info.matrix


def test_parts_whose_tractions_do_not_balance_are_named():
    """Two parts of which one holds the other: that one is named."""
    inner, outer = plate(0.05, 0.35, 0.0, 1.0), plate(0.05, 0.35, 1.0, 2.0)
    tags = np.where(outer.normals[:, 0] > 0.5, 3, outer.tags)
    outer = cal.TriangleMesh(outer.vertices, outer.triangles, tags, {**outer.names, "end": 3})
    parts = {
        "inner": cal.ElasticSolid(inner, STEEL, {"held": cal.elastic.Fixed()}),
        "outer": cal.ElasticSolid(outer, STEEL, loads={"end": cal.elastic.Force([0.0, 0.0, -1e-6])}),
    }
    with pytest.warns(cal.AccuracyWarning, match="the tractions of '(inner|outer)' do not balance the loads"):
        cal.BondedSolids(parts).solve(method="dense")


@pytest.mark.variant
@pytest.mark.filterwarnings("ignore:the tractions")
def test_products_find_the_bending_of_a_dense_matrix(spring):
    """The preconditioner, whose norm is 1e5, must be linear to more than single precision."""
    dense, fast = (spring.solve(method=method).displacement.at_nodes for method in ("dense", "fmm"))
    assert np.linalg.norm(fast - dense) < 2e-3 * np.linalg.norm(dense)


class Diagonal(SimpleNamespace):
    """An equation with a diagonal matrix, all of whose unknowns are displacements; asked: tolerances and rules of its
    matrices."""

    rules, room, shortest, dtype = None, True, 1.0, np.dtype(float)

    @property
    def displacements(self):
        return len(self.diagonal)

    unknowns = dimension = displacements

    @property
    def shape(self):
        return self.displacements, self.displacements

    @property
    def strains(self):
        return sp.csr_array(self.shape)

    @property
    def rest(self):
        return np.zeros((self.displacements, 3))

    def __matmul__(self, x):
        return (self.diagonal * x.T).T

    def to_array(self):
        return np.diag(self.diagonal)

    def with_rules(self, rules):
        return Diagonal(**{**vars(self), "rules": rules})

    def assemble(self, method, rtol=None, **options):
        self.asked.append((rtol, self.rules is not None))
        if self.rules is not None and not self.room:
            raise MemoryError
        return Diagonal(**{**vars(self), "defect": 1e-9 if self.rules else max(rtol or 0, 1e-5)})


def system(*diagonal, **options):
    lazy = Diagonal(diagonal=np.array(diagonal), asked=[], **options)
    finer = FinerMatrices(rules=True)
    return lazy.asked, LinearSystem("", lazy, (lazy,), finer=finer), finer


def test_the_amplification_is_the_norm_of_the_inverse():
    _, equation, finer = system(1.0, 0.5, 1e-4, 2.0)
    x = equation.solve(np.ones((4, 1)), SolveOptions("dense", solver="lu"))[0]
    assert finer.errors.amplification == pytest.approx(1e4)
    assert x[:, 0] == pytest.approx([1.0, 2.0, 1e4, 0.5])


def test_tolerances_of_estimates_are_round_numbers():
    for size, expected in ((4.0e-5, 5e-5), (4.5e-5, 5e-5), (2.9e-5, 2e-5), (8e-9, 1e-8), (1.0, 1.0), (0.13, 0.1)):
        assert one_two_five(size) == pytest.approx(expected, rel=1e-12)
    sizes = np.geomspace(1e-9, 1.0, 500)
    factors = [one_two_five(each) / each for each in sizes]
    assert max(factors) <= 2.5**0.5 + 1e-12 and min(factors) >= 0.4**0.5 - 1e-12


def test_short_edges_have_products_of_smaller_tolerance_from_the_beginning():
    sizes = (0.05, 8.9e-3, 4.6e-3, 2e-3, 1e-3, 6e-4, 1e-5)
    for shortest, expected in zip(sizes, (2e-4, 2e-4, 5e-5, 2e-5, 1e-5, 1e-5, 2e-4), strict=True):
        assert tolerance_of_products(1e-5, shortest) == expected
    assert tolerance_of_products(1e-4, 0.1) == 1e-3 and tolerance_of_products(1e-7, 1e-3) == pytest.approx(2e-6)

    def options(thin, **given):
        brick = cal.mesh.cuboid((1.0, 1.0, 1.0), 0.5)
        places = np.where(brick.vertices == np.unique(brick.vertices)[1], thin - 0.5, brick.vertices)
        tags = np.where(brick.normals[:, 2] < -0.5, 1, 2)
        mesh = cal.TriangleMesh(places, brick.triangles, tags=tags)
        loads = {2: cal.Traction([0.0, 0.0, 1.0])}
        solid = cal.ElasticSolid(mesh, cal.ElasticMaterial(1.0, 0.3), {1: cal.elastic.Fixed()}, loads)
        return solid._options({"rtol": 1e-5} | given).compression_rtol

    assert options(0.5, method="fmm") == pytest.approx(2e-4) and options(0.008, method="fmm") == 5e-5
    assert options(0.008, method="fmm", compression_rtol=1e-3) == 1e-3
    assert options(0.008, method="dense") is None


def test_attempts():
    """Tolerance first, then rules; where there is no room, the last matrix again, with a warning."""
    options = SolveOptions("dense", solver="lu")
    asked, equation, finer = system(1.0, 1e-4)
    equation.assemble(options)
    assert asked == [(None, False), (None, True)] and finer.fine and finer.errors.error == pytest.approx(1e-5)
    finer.warn()
    asked, equation, finer = system(1.0, 1e-4, room=False)
    equation.assemble(options)
    with pytest.warns(cal.AccuracyWarning, match="amplifies it up to 10,000 times, to 10 %"):
        finer.warn()
    assert asked == [(None, False), (None, True), (None, False)] and not finer.fine
    options = SolveOptions("fmm", rtol=1e-4, compression_rtol=1e-4)
    seen = SimpleNamespace(
        matrix=equation.matrix, inverse=equation.inverse, factors=object(), operator=equation.operator
    )
    finer = FinerMatrices(rules=True)
    operator, better = finer(seen, options)
    assert better.compression_rtol == pytest.approx(5e-6) and operator.rules is None
    assert finer(seen, better)[0].rules is not None
    finer.rules = False
    assert finer(seen, better) is None


@pytest.mark.parametrize(("method", "power", "bound"), [
    ("dense", 3, 0.01), pytest.param("fmm", 4, 0.01, marks=pytest.mark.variant),
])  # fmt: skip
def test_stresses_on_small_triangles(method, power, bound):
    """A bar in tension whose layers become thin, edges from 5e-4 on: products of rtol leave 6 %."""
    mesh = cal.mesh.cuboid((2.0, 1.0, 1.0), 0.34)
    x, side = mesh.vertices - mesh.bounds[0], np.rint(mesh.normals @ [1, 2, 3]).astype(int)
    x[:, 0] = 2 * (x[:, 0] / 2) ** power
    mesh = cal.TriangleMesh(x, mesh.triangles, side + 3)
    planes = {number: cal.elastic.SymmetryPlane() for number in (0, 1, 2)}
    solid = cal.ElasticSolid(mesh, STEEL, planes, {4: cal.Traction([1.0, 0.0, 0.0])})
    given = {"compression_rtol": 2e-4} if method == "fmm" else {}  # less than edges of this length have by default
    solution = solid.solve(method=method, **given)
    error = np.abs(solution.von_mises - 1).max()
    assert error < bound
    assert 1 / 3 < solution.info.stress_error / error < 3
    if method == "fmm":
        assert "small triangles need products for rtol=" in solution.info.matrix
        assert np.abs(solid.solve(method=method).von_mises - 1).max() < bound
