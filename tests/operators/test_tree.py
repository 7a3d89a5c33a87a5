"""Expressions of operators, tables among them: one algebra, entries and products that agree, each operator once."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import calderon as cal
from calderon.operators import boundary
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.tree import Term, terms_of

MESH = cal.mesh.sphere(1.0, 0.7)
P1, OTHER = cal.P1(MESH), cal.P1(cal.mesh.sphere(0.8, 0.7).translated([2.5, 0.3, 0.1]))
G = cal.Helmholtz(1.5)
V, K, W = cal.single_layer(G, P1), cal.double_layer(G, P1), cal.single_layer(G, OTHER)
C = cal.double_layer(G, OTHER, P1)
ONE = cal.identity(P1)
TABLE = cal.blocks([[V, C], [C.T, W]])
EXPRESSIONS = {
    "sum": TABLE + cal.blocks([[K, C], [None, W]]),
    "multiple": (2 - 1j) * TABLE - TABLE / 2,
    "transposed": cal.blocks([[K, C], [None, W]]).T,
    "adjoint": cal.blocks([[K, C], [None, W]]).H + TABLE,
    "conjugate": (1j * cal.blocks([[K, C], [C.T, W]])).H.T,
    "nested": cal.blocks([[cal.blocks([[V, K], [K.T, V]]), None], [None, -W]]),
    "product": TABLE @ cal.blocks([[ONE, None], [None, cal.identity(OTHER)]]) + TABLE,
    "scaled": cal.transformed(K + V, right=sp.diags_array(np.linspace(1, 2j, P1.dimension))) + ONE - V,
    "repeated": cal.blocks([[K + K.T, K.H], [2j * K, ONE + V]]),
    "transformed": cal.hypersingular(G, P1, form="transformed") + V,
    "symmetric": cal.blocks([[V, ONE + K], [None, 3 * V - K]]),
}


def matrix_of(operator):
    """The matrix of an expression by that of its parts, each by itself."""
    name = type(operator).__name__
    if name == "Sum":
        return sum(factor * matrix_of(part) for factor, part in operator.parts)
    if name == "Transposed":
        inner = matrix_of(operator.operator).T
        return inner.conj() if operator.conjugate else inner
    if name == "TransformedOperator" and not operator.name:
        sides = zip(operator.shape, (operator.left, operator.right), operator.inner.shape, strict=True)
        left, right = (np.eye(n) if each is None else each.build()[0].toarray() for _, each, n in sides)
        return operator.factors[0] * left.T @ matrix_of(operator.inner) @ right
    if name == "Product":
        middle = operator.left.trial.mass_matrix(operator.right.test).toarray()
        return matrix_of(operator.left) @ np.linalg.solve(middle, matrix_of(operator.right))
    if name == "BlockOperator":
        sizes = zip(operator.heights, operator.table, strict=True)
        return np.block(
            [
                [
                    np.zeros((m, n)) if each is None else matrix_of(each)
                    for n, each in zip(operator.widths, row, strict=True)
                ]
                for m, row in sizes
            ]
        )
    return operator.assemble().to_array()


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions_are_those_of_their_matrices(name):
    operator = EXPRESSIONS[name]
    expected = matrix_of(operator)
    scale = np.abs(expected).max()
    assert operator.shape == expected.shape and operator.is_complex
    matrix = operator.assemble().to_array()
    assert (
        np.abs(matrix - expected).max() < 1e-9 * scale
    )  # parts of symmetric operators integrate both orders of a pair
    rows, columns = [3, -1, 0], np.arange(operator.shape[1])[::5]
    assert np.abs(operator.entries(rows, columns) - expected[np.ix_(rows, columns)]).max() < 1e-9 * scale
    free = operator.assemble("matrix-free")
    x = np.random.default_rng(0).standard_normal((operator.shape[1], 2)) + 1j
    assert np.abs(free @ x - expected @ x).max() < 1e-8 * np.abs(expected @ x).max()
    y = np.random.default_rng(1).standard_normal(operator.shape[0])
    assert np.abs(free.H @ y - expected.conj().T @ y).max() < 1e-8 * np.abs(expected.conj().T @ y).max()


def test_tables_print_and_are_cut_as_operators():
    assert isinstance(TABLE, BoundaryOperator)
    assert repr(2 * TABLE) == f"(2) {TABLE!r}" and "transposed of" in repr(TABLE.T)
    pieces = (TABLE + TABLE.T).split(np.arange(TABLE.shape[1]))
    assert [len(piece) for piece in pieces] == [P1.dimension, OTHER.dimension]
    assert [len(piece) for piece in V.split(np.arange(P1.dimension))] == [P1.dimension]
    with pytest.raises(ValueError, match="same trial and test space"):
        TABLE + cal.blocks([[W, C.T], [C, V]])
    with pytest.raises(TypeError, match="only boundary operators and sparse matrices can be added to one, got 3"):
        TABLE + 3
    with pytest.raises(ValueError, match="must pair with the trial space"):
        TABLE @ cal.blocks([[W, C.T], [C, V]])


def test_every_operator_is_computed_once(monkeypatch):
    """Wherever it stands, in whatever orientation, and when it was written twice."""
    noted = []
    add_block = boundary.add_block

    def counted(out, bilinear, *arguments):
        noted.append((bilinear.integrand.name, arguments[-1]))
        add_block(out, bilinear, *arguments)

    monkeypatch.setattr(boundary, "add_block", counted)
    again = cal.double_layer(G, P1)
    cal.blocks([[V + K, again.T], [V, again.H - V]]).assemble()
    assert sorted(noted) == [("double_layer", False), ("single_layer", True)]


def test_terms_are_merged_and_know_their_place():
    assert terms_of(V + V.T - 0.5 * V) == [Term(1.5, V)]
    assert terms_of(K.T.T) == [Term(1.0, K)] and terms_of(K.H.T) == [Term(1.0, K, False, True)]
    bottom = terms_of((1j * cal.blocks([[None, V], [K, None]])).H)
    assert bottom == [
        Term(-1j, V, True, True, P1.dimension, 0),
        Term(-1j, K, True, True, 0, P1.dimension),
    ]


def test_classes_of_expressions_are_asked_for_in_one_place():
    """`isinstance` with the classes of expressions: three places at most, in the whole package."""
    classes = {each.__name__ for each in (BoundaryOperator, *subclasses(BoundaryOperator))}
    asked = re.compile(rf"isinstance\([^:]*\b({'|'.join(classes)})\b")
    found = []
    for path in Path(cal.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if asked.search(text) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                if {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)} & classes:
                    found.append(f"{path.name}:{node.lineno}")
    assert len(classes) > 8 and len(found) <= 3, found


def subclasses(kind):
    return [each for below in kind.__subclasses__() for each in (below, *subclasses(below))]
