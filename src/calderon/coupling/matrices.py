"""Matrices of finite elements on tetrahedra, made by scikit-fem."""

from typing import Any

import scipy.sparse as sp

from calderon.coupling.volumes import scikit_fem, skfem_mesh


def matrices(volume: Any) -> tuple[sp.csr_array, sp.csr_array]:
    """Stiffness and mass matrix (nv, nv) of linear tetrahedra, int grad phi_i . grad phi_j and int phi_i phi_j.

    volume: as for `boundary`; function i belongs to its vertex i. A vertex of no tetrahedron has rows of zeros.
    """
    skfem = scikit_fem()
    basis = skfem.Basis(skfem_mesh(volume), skfem.ElementTetP1(), intorder=2)
    stiffness = skfem.BilinearForm(lambda u, v, w: (u.grad * v.grad).sum(axis=0)).assemble(basis)
    mass = skfem.BilinearForm(lambda u, v, w: u * v).assemble(basis)
    return sp.csr_array(stiffness), sp.csr_array(mass)
