"""Checks of the layers of Laplace's equation and of elastostatics: which rows and vectors, and their exact products."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Execution, require_memory, run_tasks
from calderon.fmm.far import DIRECTIONS
from calderon.operators.boundary import IntegralOperator
from calderon.operators.tree import Term
from calderon.products.check import ROWS, Check, random_rows


def layer_check(operator: IntegralOperator, execution: Execution, transposed: bool) -> Check:
    """The check of one integral operator, or of its transpose, with a random vector and, but for curls, which take
    constants to zero, a constant one; each has its own error. execution: precision of the entries."""
    random = np.random.default_rng(0)
    count, size = operator.shape[:: -1 if transposed else 1]
    rows = random_rows(random, count)
    parts: tuple[Any, Any] = (slice(None), rows) if transposed else (rows, slice(None))
    vectors = random.standard_normal((size, 1 if operator.integrand.curls else 2))
    vectors[:, 1:] = 1.0
    require_memory(8 * len(rows) * size, f"{len(rows)} rows of {operator!r}", "try a coarser mesh")
    entries = operator.entries(*parts, precision="single" if execution.real == np.float32 else "double")
    exact = (entries.T if transposed else entries) @ vectors
    return Check(rows, vectors, exact, np.arange(vectors.shape[1]), transposed=transposed)


def layer_sizes(operator: IntegralOperator, check: Check) -> NDArray[np.float64]:
    """(vectors,) norms of the checked products if terms had the distance 1, of operators with a normal derivative, of
    which a flat surface has none; else 0."""
    if operator.integrand.normal == "none":
        return np.zeros(check.vectors.shape[1])
    spaces = (operator.test, operator.trial)[:: -1 if check.transposed else 1]
    masses = [np.sqrt(np.maximum(space.mass_matrix(space).diagonal(), 0)) for space in spaces]
    rows, columns = (mass * float(space.mesh.areas.mean()) ** 0.5 for mass, space in zip(masses, spaces, strict=True))
    terms = np.linalg.norm(columns[:, None] * check.vectors, axis=0)
    return np.asarray(np.linalg.norm(rows[check.rows]) * terms / (4 * np.pi))


def elastic_check(terms: Sequence[Term], transposed: bool = False) -> Check:
    """The check of a table of layers, or of its transpose, with vectors that are zero but for the columns of one layer.
    Each layer has four random vectors with one error, and a constant one with another."""
    random, order = np.random.default_rng(0), -1 if transposed else 1
    many = 4  # with one random vector, a row whose errors happen to add up decides
    # where each term begins, and its shape; of the transpose
    ends = [((each.top, each.left)[::order], each.shape[::order]) for each in terms]
    heights = {top: height for (top, _), (height, _) in ends}
    columns = {left: (width, (each.factor, each.atom.green, each.atom.integrand))
               for ((_, left), (_, width)), each in zip(ends, terms, strict=True)}  # fmt: skip
    layers = list(dict.fromkeys(layer for _, layer in columns.values()))
    chosen = {}  # rows of each row of the table
    for top, height in heights.items():  # three rows of a function cost as much as one
        functions = random.choice(height // DIRECTIONS, min(height, ROWS + 2) // DIRECTIONS, replace=False)
        chosen[top] = (DIRECTIONS * np.sort(functions)[:, None] + np.arange(DIRECTIONS)).ravel()
    starts = dict(zip(chosen, np.cumsum([0, *(len(each) for each in chosen.values())])[:-1], strict=True))
    rows = np.concatenate([top + each for top, each in chosen.items()])
    # vectors of each layer, zero in the columns of the others
    vectors = np.zeros((max(left + n for left, (n, _) in columns.items()), (many + 1) * len(layers)))
    exact = np.zeros((len(rows), vectors.shape[1]))
    for left, (size, layer) in columns.items():
        given = np.split(vectors[left : left + size], len(layers), axis=1)[layers.index(layer)]
        given[:, :many] = random.standard_normal((size, many))
        given[:, many] = 1.0
    # exact products of each term, some side by side
    products, numbers = [np.zeros(0)] * len(terms), iter(range(len(terms)))

    def line(_: int) -> None:
        for number in numbers:  # shared: each comes once
            multiply(number)

    def multiply(number: int) -> None:
        (top, left), (_, width), each = *ends[number], terms[number]
        own = chosen[top]
        require_memory(8 * len(own) * width, f"{len(own)} rows of {each.atom!r}", "try a coarser mesh")
        entries = each.atom.entries(slice(None), own).T if transposed else each.atom.entries(own, slice(None))
        products[number] = each.factor * (entries @ vectors[left : left + width])

    run_tasks(line, 2)  # side by side, as one thread makes tables of triangles
    for ((top, _), _), each in zip(ends, products, strict=True):
        exact[starts[top] : starts[top] + len(each)] += each
    groups = 2 * np.repeat(np.arange(len(layers)), many + 1)
    groups[many :: many + 1] += 1
    return Check(rows, vectors, exact, groups, transposed=transposed)
