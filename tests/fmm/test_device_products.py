"""Fast multipole products on a device are those of the processor, and solvers keep their vectors there."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends import OnDevice, get
from calderon.fmm import galerkin, orders
from calderon.fmm.device import products
from calderon.fmm.device.moments import DeviceMoments
from calderon.fmm.elastic_moments import Fields, elastic_moments
from calderon.fmm.layout import Layout
from calderon.fmm.tables import tables
from calderon.products.device.tables import indices
from catalogue import NODAL_SPACES

BOUNDS = {9e-5: 1e-12, 1e-3: 1e-5}
"""Largest differences by rtol: in double precision, and with tables and blocks in single precision."""
TIES, STEP = 4, 2.0**-30
"""Rows at most in which an entry lies so near the middle between two integers of 32 bits, of 1e5 entries that differ by
1e-14, that the processor and the device round it to different ones, and what that changes."""
LAPLACE = [
    ("P0", "single_layer"),
    ("P1", "double_layer"),
    ("P0", "adjoint_double_layer"),
    ("P1", "hypersingular"),
    ("P2", "hypersingular"),
]


@pytest.fixture(scope="module")
def mesh():
    return cal.mesh.ellipsoid([2.5, 0.3, 0.3], 0.2)


@pytest.fixture(autouse=True)
def small_leaves(monkeypatch):
    """Far fields on meshes of some hundred unknowns."""
    for name in ("FUNCTIONS", "ELASTIC"):
        monkeypatch.setattr(galerkin, name, tuple(each._replace(leaf=25) for each in getattr(orders, name)))


def check(operator, rtol, bound):
    """Products and transposed products with two complex and two real vectors; the last ones twice, with equal bits."""
    random = np.random.default_rng(0)
    here, there = (operator.assemble("fmm", rtol=rtol, backend=name) for name in ("numba", "opencl"))
    assert there.backend == "opencl:0" and "backend opencl:0" in str(there)
    assert there.info[0].leaves >= 8 and abs(there.error - here.error) < bound and there.nbytes > here.nbytes
    for one, other in ((here, there), (here.T, there.T)):
        x = random.standard_normal((one.shape[1], 2)) + 1j * random.standard_normal((one.shape[1], 2))
        for given in (x, x.real):
            expected, found = one @ given, other @ given
            assert found.dtype == expected.dtype
            error, size = np.linalg.norm(found - expected, axis=1), np.linalg.norm(expected)  # by rows
            assert np.linalg.norm(np.sort(error)[:-TIES]) < bound * size
            assert np.linalg.norm(error) < max(bound, STEP) * size
        assert np.array_equal(other @ x.real, found)
    return there


@pytest.mark.parametrize("rtol", BOUNDS)
def test_layers_of_laplace(opencl, mesh, rtol):
    for name, layer in LAPLACE if rtol < 1e-4 else LAPLACE[3:4]:
        operator = getattr(cal, layer)(cal.Laplace(), NODAL_SPACES[name](mesh))
        assert isinstance(check(operator, rtol, BOUNDS[rtol]), OnDevice)


def test_neighbours_two_edges_away(opencl, mesh, monkeypatch):
    chosen = tuple(each for each in galerkin.FUNCTIONS if each.order.apart == 2)
    monkeypatch.setattr(galerkin, "FUNCTIONS", chosen)
    operator = cal.double_layer(cal.Laplace(), cal.P1(mesh), cal.P0(mesh))
    assert check(operator, 9e-5, 1e-12).info[0].order[0] == chosen[0].order.p


def test_layers_of_elastostatics_in_one_traversal(opencl, mesh):
    green, u, t = cal.Elastostatic(2.5, 0.3), cal.P1(mesh, components=3), cal.P0(mesh, components=3)
    table = [[cal.double_layer(green, u, test), -0.5 * cal.single_layer(green, t, test)] for test in (u, t)]
    assert isinstance(check(cal.blocks(table), 1e-3, 2.0**-15), OnDevice)  # blocks of 16 bits


def test_moments_of_displacements_forces_and_dislocations(opencl, mesh):
    promise, space, device = orders.ELASTIC[0]._replace(leaf=25), cal.P1(mesh, components=3), get("opencl")
    layout, table = Layout.of([space.scalar] * 2, [space.scalar] * 2, promise, 2.3, 1.0), tables(promise.order, False)
    pieces = layout.rows.pieces(space)
    starts = pieces.starts // 3
    for kind, runs in (("value", 4), ("force", 12), ("dislocation", 12)):
        fields = Fields(pieces.space.scalar, kind, 0.3, 1.7, 4)
        for real, bound in ((np.dtype(float), 1e-12), (np.dtype(np.float32), 1e-5)):
            given = fields.space, starts, fields.degree, fields.combined(promise.order.p, real), layout, table
            here, there = elastic_moments(fields, layout, starts, table, real), DeviceMoments(device, *given)
            expected, found = (each.runs(0, runs * int(starts[-1])) for each in (here, there))
            assert expected.dtype == found.dtype == real and np.abs(expected).max(axis=1).all()
            assert (np.abs(found - expected).max(axis=1) < bound * np.abs(expected).max(axis=1)).all()


def test_gmres_on_the_device(opencl, mesh):
    """Sums with sparse matrices, transposes and complex multiples, the vectors of which stay there."""
    P0, P1 = cal.P0(mesh), cal.P1(mesh)
    V, K = cal.single_layer(cal.Laplace(), P0), cal.double_layer(cal.Laplace(), P1)
    systems = [V, (0.5 + 0.1j) * cal.identity(P1) - K - K.T]
    for operator, rtol in zip(systems, (1e-6, 1e-8), strict=True):
        b = np.random.default_rng(0).standard_normal(operator.shape[0])
        matrices = [operator.assemble("fmm", rtol=9e-5, backend=name) for name in ("numba", "opencl")]
        (x, here), (y, there) = (cal.gmres(each, b, rtol=rtol) for each in matrices)
        assert there.iterations == here.iterations and "on opencl:0" in there.method and "on" not in here.method
        assert np.linalg.norm(y - x) < 1e-9 * np.linalg.norm(x)
        assert np.linalg.norm(matrices[1].rmatvec(b) - matrices[0].rmatvec(b)) < 1e-12 * np.linalg.norm(b)


def test_products_of_operators_are_joined_by_the_processor(opencl, mesh):
    V = cal.single_layer(cal.Laplace(), cal.P0(mesh))
    here, there = ((V @ V).assemble("fmm", rtol=9e-5, backend=name) for name in ("numba", "opencl"))
    assert here.backend == "numba" and there.backend == "opencl:0 and numba" and not isinstance(there, OnDevice)
    x = np.random.default_rng(0).standard_normal(V.shape[1])
    assert np.linalg.norm(there @ x - here @ x) < 1e-12 * np.linalg.norm(here @ x)


def test_a_solid_whose_products_are_on_the_device(opencl):
    """Entries and moments are in double precision for such a tolerance."""
    bar = cal.mesh.cuboid([1.0, 0.25, 0.25], h=0.08)
    bar = cal.TriangleMesh(bar.vertices, bar.triangles, np.rint(bar.normals[:, 0]).astype(int) % 3)
    solid = cal.ElasticSolid(bar, cal.ElasticMaterial(2.5, 0.3), {1: cal.elastic.Fixed()}, {0: cal.Pressure(1e-3)})
    system = solid.system
    given = {"method": "fmm", "rtol": 1e-4, "compression_rtol": 5e-6}
    system.assemble(solid._options(given | {"backend": "opencl"}))
    assert all(isinstance(each.layers.product, OnDevice) for each in system.matrix.bodies)
    here, there = (solid.solve(**given, backend=name).displacement.coefficients for name in ("numba", "opencl"))
    assert np.linalg.norm(there - here) < 1e-9 * np.linalg.norm(here)


def test_the_memory_is_known_before_it_is_taken(opencl, mesh, monkeypatch):
    """That of lists, tables, moments and vectors with the blocks that are there, within 10 %."""
    device, taken, asked = get("opencl"), list[int](), list[int]()
    array, empty = device.array, device.empty
    monkeypatch.setattr(device, "array", lambda host: (taken.append(host.nbytes), array(host))[1])
    monkeypatch.setattr(device, "empty", lambda *given: (taken.append(np.empty(*given).nbytes), empty(*given))[1])

    def asking(device, nbytes, stores, *given):
        asked.append(nbytes - sum(each.memory.nbytes for each in stores))
        taken.clear()

    monkeypatch.setattr(products, "require_room", asking)
    matrix = cal.double_layer(cal.Laplace(), cal.P1(mesh)).assemble("fmm", rtol=9e-5, backend="opencl")
    matrix @ np.ones(matrix.shape[1])
    assert sum(taken) == pytest.approx(asked[-1], rel=0.1)


def test_refusals_before_anything_is_sent(opencl, mesh, monkeypatch):
    operator, device = cal.double_layer(cal.Laplace(), cal.P1(mesh)), get("opencl")  # the one of now
    with monkeypatch.context() as patch:
        patch.setattr(device, "memory", lambda: 1_000_000)
        with pytest.raises(MemoryError, match=r"a fast multipole operator needs .* 1.0 MB free: increase rtol"):
            operator.assemble("fmm", rtol=1e-3, backend="opencl")
    monkeypatch.setattr(device, "has_double", False)
    with pytest.raises(RuntimeError, match="supports single precision only, and these far fields are in double"):
        operator.assemble("fmm", rtol=1e-3, backend="opencl", precision="single")
    with pytest.raises(MemoryError, match="counts to 2147483648, and opencl:0 counts to 2147483647"):
        indices(device, np.array([0, 1 << 31]))
