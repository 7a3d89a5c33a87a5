"""H-matrices: matrices in blocks, most of them of low rank, by adaptive cross approximation.

Knows nothing of spaces or equations: a matrix is what its compiled rows, columns and blocks say
(galerkin/rows/entry_kernels.py). One file looks at spaces, integrands and operators: galerkin.py.
"""

from calderon.hmatrix.composed_operator import ComposedOperator
from calderon.hmatrix.compression import hmatrix
from calderon.hmatrix.galerkin import Choices, assemble_hmatrix, is_sum, plan_hmatrix, save_assembly
from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.lu import HierarchicalLU, hlu
from calderon.hmatrix.tree.block_tree import Admissibility, BlockTree, block_tree
from calderon.hmatrix.tree.cluster_tree import ClusterTree, cluster_tree

__all__ = [
    "Admissibility",
    "Choices",
    "ComposedOperator",
    "BlockTree",
    "ClusterTree",
    "HMatrix",
    "HierarchicalLU",
    "assemble_hmatrix",
    "block_tree",
    "cluster_tree",
    "hlu",
    "hmatrix",
    "is_sum",
    "plan_hmatrix",
    "save_assembly",
]
