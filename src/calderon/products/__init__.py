"""Fast products, once for all methods: octree, near entries, check, attempts, cost, and sums over points."""

from calderon.products.point_sums import PointSums, SumsInfo

__all__ = ["PointSums", "SumsInfo"]
