"""What a fast product is: octree, near entries and their store, sums over points, products on devices."""
