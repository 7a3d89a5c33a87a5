"""Quadrature rules: symmetric Gauss rules on triangles and tetrahedra, Gauss-Legendre on segments."""

from calderon.quadrature.options import NearQuadrature, Quadrature
from calderon.quadrature.segment import SegmentRule, gauss
from calderon.quadrature.singular import PairRule, touching_rule
from calderon.quadrature.tetrahedron import TetrahedronRule, tetrahedron_rule
from calderon.quadrature.triangle import TriangleRule, triangle_rule

__all__ = [
    "NearQuadrature",
    "PairRule",
    "Quadrature",
    "SegmentRule",
    "TetrahedronRule",
    "TriangleRule",
    "gauss",
    "tetrahedron_rule",
    "touching_rule",
    "triangle_rule",
]
