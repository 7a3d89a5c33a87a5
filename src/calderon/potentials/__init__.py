"""Fields of layers and currents at points in space, and far fields."""

from calderon.potentials.current import CurrentField, electric_field_potential, magnetic_field_potential
from calderon.potentials.layer import Potential, double_layer_potential, single_layer_potential

__all__ = [
    "CurrentField",
    "Potential",
    "double_layer_potential",
    "electric_field_potential",
    "magnetic_field_potential",
    "single_layer_potential",
]
