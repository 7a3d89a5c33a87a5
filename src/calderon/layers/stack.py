"""Stacks of planar layers, as boards, radomes and ground are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calderon.exact.vacuum import SPEED_OF_LIGHT, VACUUM_IMPEDANCE, conducting_permittivity
from calderon.layers.cutoffs import Section, cutoffs
from calderon.layers.sections import MAGNETIC_WALL, OPEN, WALL, Sections
from calderon.validation import describe, finite_number, list_of, positive_length, real_number, relative_constant
from calderon.view import Described


@dataclass(frozen=True)
class Layer:
    """A medium between two planes; without a thickness a half-space.

    thickness: in m. eps_r, mu_r: relative, loss is a positive imaginary part; eps_r may be a function of the frequency
    in Hz. tan_delta: loss tangent of a real eps_r. conductivity: in S/m. At frequency f the permittivity is
    eps_r (1 + i tan_delta) + i sigma / (2 pi f eps0).
    """

    thickness: float | None = None
    eps_r: complex | Callable[[float], complex] = 1.0
    mu_r: complex = 1.0
    tan_delta: float = 0.0
    conductivity: float = 0.0

    def __post_init__(self) -> None:
        if self.thickness is not None:
            positive_length(self.thickness, "the thickness of a layer in m")
        eps = None if callable(self.eps_r) else relative_constant(self.eps_r, "eps_r of a layer")
        relative_constant(self.mu_r, "mu_r of a layer")
        for name, value in (("tan_delta", self.tan_delta), ("conductivity", self.conductivity)):
            if real_number(value, f"{name} of a layer") < 0:
                raise ValueError(f"{name} of a layer must not be negative, which is gain, got {value!r}")
        if self.tan_delta and eps is None:
            raise ValueError(f"tan_delta={self.tan_delta!r} goes with a number: let the function have the loss")
        if self.tan_delta and isinstance(eps, complex):
            raise ValueError(f"tan_delta={self.tan_delta!r} goes with a real eps_r, got {eps!r}: give the loss once")

    def permittivity(self, frequency: float) -> complex:
        """Relative permittivity at `frequency` in Hz."""
        eps = self.eps_r
        if callable(eps):
            eps = relative_constant(eps(frequency), f"eps_r of a layer at {frequency:g} Hz")
        return complex(conducting_permittivity(eps * (1 + 1j * self.tan_delta), self.conductivity, frequency))

    def __str__(self) -> str:
        """The medium, as drawings state it."""
        if callable(self.eps_r):
            text = f"eps_r of {getattr(self.eps_r, 'name', 'the frequency')}"
        else:
            text = f"eps_r {self.eps_r:g}" if self.eps_r != 1 or not self.conductivity else "eps_r 1"
        text += f", mu_r {self.mu_r:g}" if self.mu_r != 1 else ""
        text += f", tan delta {self.tan_delta:g}" if self.tan_delta else ""
        return text + (f", {self.conductivity:g} S/m" if self.conductivity else "")


@dataclass(frozen=True)
class SurfaceImpedance:
    """A wall on which E_t = z (n x H) with the normal n into the stack; z in ohm, its real part not negative."""

    z: complex

    def __post_init__(self) -> None:
        if np.real(finite_number(self.z, "a surface impedance")) < 0:
            raise ValueError(f"a surface impedance must not have a negative real part, which is gain, got {self.z!r}")

    def impedance(self, frequency: float) -> complex:
        """In ohm at `frequency` in Hz."""
        return complex(self.z)

    def __str__(self) -> str:
        return f"surface impedance {self.z:g} ohm"


@dataclass(frozen=True)
class Conductor:
    """The face of metal; sigma: its conductivity in S/m.

    thickness: t of the metal in m, behind which the tangential H is zero; None where it is many skin depths.
    permeability: relative, real or with a positive imaginary part. roughness: r of the face, root mean square in m.
    With the skin depth delta = sqrt(2 / (omega mu sigma)) its impedance is

        Z = (1 - i) / (sigma delta) coth((1 - i) t / delta),      Re Z (1 + 2/pi atan(1.4 (r / delta)^2)) + i Im Z.

    E. Hammerstad and O. Jensen, IEEE MTT-S Digest (1980) 407 (roughness).
    """

    sigma: float
    thickness: float | None = None
    permeability: complex = 1.0
    roughness: float = 0.0

    def __post_init__(self) -> None:
        positive_length(self.sigma, "the conductivity of a conductor in S/m")
        if self.thickness is not None:
            positive_length(self.thickness, "the thickness of a conductor in m")
        relative_constant(self.permeability, "the permeability of a conductor")
        if real_number(self.roughness, "the roughness of a conductor in m") < 0:
            raise ValueError(f"the roughness of a conductor must not be negative, got {self.roughness!r}")

    def impedance(self, frequency: float) -> complex:
        """In ohm at `frequency` in Hz, of a face with a field on this side alone."""
        return self._face(frequency, self.thickness)

    def sheet_impedance(self, frequency: float) -> complex:
        """E over the current of both faces in ohm, with equal fields on both sides: half of that of a face, of metal
        that is half as thick."""
        return self._face(frequency, None if self.thickness is None else self.thickness / 2) / 2

    def loss_factor(self, frequency: float) -> float:
        """The factor of the resistance by roughness, between 1 and 2."""
        wavenumber = self.wavenumber(frequency)
        return float(1 + 2 / np.pi * np.arctan(1.4 * (self.roughness * wavenumber.imag) ** 2))

    def wavenumber(self, frequency: float) -> complex:
        """sqrt(i omega mu sigma) in 1/m, (1 + i) / delta of a real permeability."""
        mu = self.permeability * VACUUM_IMPEDANCE / SPEED_OF_LIGHT
        return complex(np.sqrt(2j * np.pi * positive_length(frequency, "frequency") * mu * self.sigma))

    def _face(self, frequency: float, thickness: float | None) -> complex:
        decay = -1j * self.wavenumber(frequency)
        found = decay / self.sigma
        if thickness is not None:
            found /= np.tanh(decay * thickness)
        return complex(self.loss_factor(frequency) * found.real, found.imag)

    def __str__(self) -> str:
        thick = "" if self.thickness is None else f", {1e6 * self.thickness:g} um thick"
        rough = f", roughness {1e6 * self.roughness:g} um" if self.roughness else ""
        magnetic = f", mu_r {self.permeability:g}" if self.permeability != 1 else ""
        return f"conductor, {self.sigma:g} S/m{magnetic}{thick}{rough}"


End = Layer | SurfaceImpedance | Conductor | str
WALLS = {"pec": "perfect electric conductor", "pmc": "perfect magnetic conductor"}


@dataclass(frozen=True)
class Stack(Described):
    """Planar layers, from below, between two ends.

    z = 0 is the lower face of the first finite layer, or the interface of two half-spaces.

    layers: finite ones, or one alone. below, above: a half-space, which is a `Layer` without thickness (vacuum unless
    given), "pec", "pmc", a `SurfaceImpedance` or a `Conductor`.
    """

    layers: Sequence[Layer] = ()
    below: End = field(default_factory=Layer)
    above: End = field(default_factory=Layer)

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", list_of(self.layers, Layer, "layers must be Layer(thickness, ...)"))
        for number, layer in enumerate(self.layers):
            if layer.thickness is None:
                raise ValueError(
                    f"layer {number} has no thickness: give one in m, or put the half-space at below= or above="
                )
        for name, end in (("below", self.below), ("above", self.above)):
            _check_end(name, end)
        if not self.layers and not any(isinstance(end, Layer) for end in (self.below, self.above)):
            raise ValueError("a stack between two walls needs a layer: give Layer(thickness, ...)")

    @property
    def interfaces(self) -> np.ndarray:
        """Heights z in m of the faces of all layers, from below: those of walls, too."""
        return np.cumsum([0.0, *(layer.thickness or 0.0 for layer in self.layers)])

    @property
    def top(self) -> float:
        """The height z in m of the upper face of the uppermost finite layer."""
        return float(self.interfaces[-1])

    def at(self, frequency: float) -> Sections:
        """The stack at `frequency` in Hz."""
        f = positive_length(frequency, "frequency")
        z = self.interfaces
        media, faces = list(self.layers), [(low, high) for low, high in zip(z[:-1], z[1:], strict=True)]
        if isinstance(self.below, Layer):
            media, faces = [self.below, *media], [(z[0], z[0]), *faces]
        if isinstance(self.above, Layer):
            media, faces = [*media, self.above], [*faces, (z[-1], z[-1])]
        ends, walls = zip(_wall(self.below, f), _wall(self.above, f), strict=True)
        return Sections(
            k0=2 * np.pi * f / SPEED_OF_LIGHT,
            eps=np.array([medium.permittivity(f) for medium in media]),
            mu=np.array([medium.mu_r for medium in media], dtype=complex),
            low=np.array([low for low, _ in faces]),
            high=np.array([high for _, high in faces]),
            ends=np.array(ends, dtype=np.int64),
            walls=np.array(walls, dtype=complex) / VACUUM_IMPEDANCE,
        )

    def surface_waves(self, count: int = 3) -> list[tuple[str, float]]:
        """The first surface waves by name, TM0, TE1, ..., with their cutoff frequencies in Hz, 0 for those at all
        frequencies; of layers without conductivity between a half-space and a perfect wall, or equal half-spaces.
        Losses are left out; none of layers that depend on the frequency."""
        ends, media = (self.below, self.above), [*self.layers]
        opened = [end for end in ends if isinstance(end, Layer)]
        media += opened
        varying = any(each.conductivity or callable(each.eps_r) for each in media)
        if not opened or varying or not all(isinstance(e, Layer | str) for e in ends):
            return []
        if len(opened) == 2 and (opened[0].eps_r, opened[0].mu_r) != (opened[1].eps_r, opened[1].mu_r):
            return []
        below = [*self.layers, opened[-1]]  # permittivities at any frequency
        parts = [Section(m.permittivity(1.0).real, np.real(m.mu_r), m.thickness or 0.0) for m in below]
        upward = isinstance(self.above, Layer)
        start = self.below if upward else self.above
        order = parts[:-1] if upward else parts[-2::-1]
        return cutoffs(order, parts[-1], start if isinstance(start, str) else "open", count)

    @property
    def brief(self) -> str:
        """Its layers, from below."""
        layers = [f"{1e3 * (layer.thickness or 0.0):g} mm {layer}" for layer in self.layers]
        return " | ".join([_name(self.below), *layers, _name(self.above)])

    def __str__(self) -> str:
        """A drawing, from above, and the first surface waves with their cutoff frequencies."""
        line, z = "-" * 40, self.interfaces * 1e3
        rows = [_name(self.above)]
        for number in range(len(self.layers) - 1, -1, -1):
            layer = self.layers[number]
            rows += [f"{line} z = {z[number + 1]:g} mm", f"{1e3 * (layer.thickness or 0.0):g} mm, {layer}"]
        rows += [f"{line} z = 0 mm", _name(self.below)]
        if waves := self.surface_waves():
            texts = [f"{name} from {f / 1e9:.4g} GHz" if f else f"{name} at all frequencies" for name, f in waves]
            rows.append(f"surface waves: {', '.join(texts)}")
        return "\n".join(rows)


def _check_end(name: str, end: Any) -> None:
    allowed = f"{name}= must be a Layer without thickness, 'pec', 'pmc', SurfaceImpedance(z) or Conductor(sigma)"
    if isinstance(end, Layer):
        if end.thickness is not None:
            raise ValueError(f"{allowed}; a layer of thickness {end.thickness:g} m belongs to layers")
    elif not (isinstance(end, SurfaceImpedance | Conductor) or (isinstance(end, str) and end in WALLS)):
        raise ValueError(f"{allowed}, got {describe(end)}")


def _wall(end: End, frequency: float) -> tuple[int, complex]:
    """The kind of an end and its impedance in ohm."""
    if isinstance(end, Layer):
        return OPEN, 0.0
    if isinstance(end, str):
        return (WALL if end == "pec" else MAGNETIC_WALL), 0.0
    return WALL, end.impedance(frequency)


def _name(end: End) -> str:
    if isinstance(end, Layer):
        return f"half-space, {end}"
    return WALLS[end] if isinstance(end, str) else str(end)
