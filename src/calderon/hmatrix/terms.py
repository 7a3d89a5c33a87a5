"""An operator as a sum of compressed and sparse matrices, where it is one."""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.siblings import Term
from calderon.operators.blocks import BlockOperator
from calderon.operators.boundary import BoundaryOperator, IntegralOperator, SparseOperator, Sum, Transposed
from calderon.spaces import numbering


def terms_of(
    operator: BoundaryOperator | BlockOperator, compressed: Callable[[IntegralOperator], HMatrix]
) -> list[Term] | None:
    """The summands; None for an operator with products, tables or other factors in it. compressed: the H-matrix of an
    integral operator."""
    if isinstance(operator, IntegralOperator):
        return [Term(1.0, compressed(operator))]
    if isinstance(operator, SparseOperator):
        return [Term(1.0, sp.csr_array(operator.matrix))]
    if isinstance(operator, Transposed):
        inner = terms_of(operator.operator, compressed)
        return None if inner is None else [_transposed(term, operator.conjugate) for term in inner]
    if isinstance(operator, Sum):
        found: list[Term] = []
        for factor, part in operator.parts:
            inner = terms_of(part, compressed)
            if inner is None:
                return None
            found += [term._replace(factor=term.factor * factor) for term in inner]
        return found
    return None


def product_of(terms: list[Term]) -> LinearOperator:
    """The products of a sum of terms."""
    summands = []
    for term in terms:
        matrix = aslinearoperator(term.matrix)
        if term.transposed:
            matrix = matrix.H if term.conjugated else matrix.T
        elif term.conjugated:
            matrix = matrix.H.T
        summands.append(term.factor * matrix)
    return sum(summands[1:], summands[0])


def is_sum(operator: BoundaryOperator | BlockOperator) -> bool:
    """Whether an operator is a sum of integral and sparse operators between one space and itself or its dual tests."""
    if isinstance(operator, Sum):
        return all(is_sum(part) for _, part in operator.parts)
    if isinstance(operator, Transposed):
        return is_sum(operator.operator)
    return isinstance(operator, IntegralOperator | SparseOperator) and operator.trial is numbering(operator.test)


def _transposed(term: Term, conjugate: bool) -> Term:
    factor = np.conj(term.factor) if conjugate else term.factor
    return Term(factor, term.matrix, not term.transposed, term.conjugated != conjugate)
