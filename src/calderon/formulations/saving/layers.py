"""Layer potentials and surface currents as values and functions of a saved solution."""

from collections.abc import Mapping, Sequence
from typing import Any

from calderon.greens import Helmholtz, Laplace
from calderon.potentials import Potential
from calderon.quadrature import Quadrature
from calderon.spaces import Function

LAYER_CLASSES = (Helmholtz, Laplace, Quadrature)


def layer_values(layers: Sequence[Potential]) -> list[tuple[Any, ...]]:
    """Facts of layers besides their densities."""
    return [(each.green, each.double, each.quadrature) for each in layers]


def layer_functions(name: str, layers: Sequence[Potential]) -> dict[str, Function]:
    """Their densities by name."""
    return {f"{name} {number}": each.density for number, each in enumerate(layers)}


def layers_of(name: str, values: list[tuple[Any, ...]], functions: Mapping[str, Any]) -> tuple[Potential, ...]:
    """The layers of these values and functions; TypeError for what are no layers."""
    found = []
    for number, (green, double, rule) in enumerate(values):
        density = functions[f"{name} {number}"]
        fits = isinstance(green, Helmholtz | Laplace) and isinstance(double, bool) and isinstance(rule, Quadrature)
        if not (fits and isinstance(density, Function) and not density.space.value_shape):
            raise TypeError(f"layer {number} is none")
        found.append(Potential(green, density, double, rule))
    return tuple(found)
