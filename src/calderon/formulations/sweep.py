"""One problem at many frequencies: its solutions in turn, as data by frequency, and as files."""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data import Axis, LabelledArrays, Places, Quantity, Samples
from calderon.data.labelled import stacked
from calderon.data.paraview import collection_path, write_collection
from calderon.data.pattern_files import write_patterns
from calderon.data.samples import Sampling
from calderon.formulations.impulse_response import ImpulseResponse, impulse_response
from calderon.formulations.options import SolveChoices, largest_dense, named_options
from calderon.formulations.ports.feeds import Feeds
from calderon.formulations.ports.port_sweep import write_touchstone
from calderon.formulations.ports.power_waves import (
    Reference,
    network,
    reference_impedances,
    reference_text,
    renormalised,
)
from calderon.formulations.scenes import stepped_scene
from calderon.formulations.swept_values import Measured, SweptValues, swept_values
from calderon.mesh.errors import CoarseMeshWarning, warn_of_accuracy
from calderon.operators.methods import AUTO
from calderon.validation import positive_numbers
from calderon.view import Scene, Steps, Viewable

SHOWN = 16
"""Frequencies of a live view, at most: each carries all values on the surface."""


@dataclass(frozen=True, eq=False)
class Sweep(Sampling, Viewable, Sequence[Any]):
    """Solutions by frequency in Hz: `sweep[0]` is the first, fields and far fields have the axis `frequency`.

    frequencies: (n,) in Hz. solutions: as many. s: of antennas, the scattering matrices (n, p, p) for exp(-i omega t)
    with lines of `reference` ohm at the feeds, of which available powers and realised gains are, too.
    """

    frequencies: NDArray[np.float64]
    solutions: tuple[Any, ...]
    s: NDArray[np.complex128] | None = None
    reference: Reference = 50.0

    def __len__(self) -> int:
        return len(self.solutions)

    def __getitem__(self, number: Any) -> Any:
        return self.solutions[number]

    @property
    def axis(self) -> Axis:
        """The frequencies."""
        return Axis("frequency", self.frequencies, "Hz", "frequency")

    def far_field_data(self, theta: ArrayLike, phi: ArrayLike | None = None) -> Any:
        """Far fields by frequency and direction as an `xarray.Dataset`; see `far_field_data` of the solutions."""
        return self.far_field_arrays(theta, phi).to_xarray()

    def far_field_arrays(self, theta: ArrayLike, phi: ArrayLike | None = None) -> LabelledArrays:
        """Far fields by frequency and direction, as `far_field_arrays` of the solutions; realised gains of antennas are
        those of generators of `reference` ohm."""
        given = {"reference": self.reference} if isinstance(self.solutions[0], Feeds) else {}
        return stacked(self.axis, [each.far_field_arrays(theta, phi, **given) for each in self.solutions])

    def arrays(self) -> LabelledArrays:
        """Numbers by frequency: of the solver, the `figures` of solutions that have some, and of antennas impedances,
        efficiencies and S."""
        infos = [each.info for each in self.solutions]
        found = [
            Quantity("iterations", np.array([each.iterations for each in infos])),
            Quantity("relative_residual", np.array([each.residual for each in infos])),
        ]
        for several in zip(*(getattr(each, "figures", ()) for each in self.solutions), strict=True):
            values = np.array([each.values for each in several])
            found.append(Quantity(several[0].name, values, several[0].unit, several[0].label))
        axes: tuple[Axis, ...] = (self.axis,)
        if self.s is not None:
            names = [np.array(self.solutions[0].feeds)] * 2
            axes += (Axis("feed", names[0]), Axis("driven_feed", names[1]))
            impedances = np.array([each.input_impedances for each in self.solutions])
            found = [Quantity(each.name, each.values, each.unit, along=("frequency",)) for each in found]
            found.append(Quantity("input_impedance", impedances, "ohm", along=("frequency", "feed")))
            efficiencies = np.array([each.efficiency() for each in self.solutions])
            found.append(
                Quantity("efficiency", efficiencies, "1", "radiated over accepted power", along=("frequency",))
            )
            found.append(Quantity("s", self.s, "1", f"S for {reference_text(self.reference)}"))
        return LabelledArrays(axes, tuple(found), attributes={"time_factor": "exp(-i omega t)"})

    def to_xarray(self) -> Any:
        """`arrays` as an `xarray.Dataset`."""
        return self.arrays().to_xarray()

    def to_pandas(self) -> Any:
        """`arrays` as a tidy `pandas.DataFrame`."""
        return self.arrays().to_pandas()

    def impulse_response(self, points: ArrayLike, rate: float) -> ImpulseResponse:
        """The response of the fields at points (n, 3) in time; see `SweptValues.impulse_response`."""
        fields = np.array([each.field(points) for each in self.solutions])
        return impulse_response(self.frequencies, fields, rate, "field", "")

    def write_pvd(self, path: str | os.PathLike[str]) -> None:
        """Write what was solved for on the surface at all frequencies for ParaView: a .pvd file, and next to it one
        .vtu file for each frequency (and surface)."""
        place, files = collection_path(path), []
        for number, solution in enumerate(self.solutions, start=1):
            parts = getattr(solution, "electric_currents", None) or (solution.surface,)
            for part, function in enumerate(parts):
                name = f"{place.stem}_{number:03d}{f'_{part}' if len(parts) > 1 else ''}.vtu"
                function.write(place.with_name(name))
                files.append((float(self.frequencies[number - 1]), part, name))
        write_collection(place, files)

    def write_touchstone(self, path: str | os.PathLike[str]) -> None:
        """Write S of an antenna with p feeds to a Touchstone file NAME.sPp, for exp(+j omega t) as that format
        requires."""
        write_touchstone(path, self.frequencies, self._scattering, self.reference)

    def renormalised(self, z0: ArrayLike) -> "Sweep":
        """S for reference impedances z0 in ohm, of all feeds or (p,), which may be complex; see
        `PortSweep.renormalised`. ValueError without S."""
        s = self._scattering
        other = reference_impedances(z0, s.shape[-1])
        return replace(self, s=renormalised(s, self.reference, other), reference=other)

    def to_skrf(self, name: str = "calderon") -> Any:
        """S of an antenna as an `skrf.Network`, for exp(+j omega t). ValueError without S."""
        return network(self.frequencies, self._scattering, self.reference, name)

    @property
    def _scattering(self) -> NDArray[np.complex128]:
        if self.s is None:
            raise ValueError("S-parameters are those of the feeds of an antenna, and this sweep has none")
        return self.s

    def write_far_field(self, path: str | os.PathLike[str], theta: Any = None, phi: Any = None) -> None:
        """Write far fields of an antenna at all frequencies to a .ffe or .ffs file; see `AntennaSolution`."""
        write_patterns(path, [each.pattern(theta, phi, self.reference) for each in self.solutions])

    def scene(self) -> Scene:
        """The solved functions on the surface, and patterns, with a slider of frequencies, at most `SHOWN` of them."""
        shown = np.unique(np.linspace(0, len(self) - 1, min(len(self), SHOWN)).round().astype(int)).tolist()
        size, unit = (1e6, "MHz") if self.frequencies.min() >= 1e6 else (1.0, "Hz")
        labels = [f"{self.frequencies[n] / size:.6g} {unit}" for n in shown]
        # patterns have as many directions at all frequencies as the one with most needs
        solutions = [self.solutions[n] for n in shown]
        rows = max(getattr(each, "_pattern_rows", 0) for each in solutions)
        scenes = [each._scene(rows) if rows else each.scene() for each in solutions]
        found = stepped_scene(scenes, Steps("frequency", labels))
        return replace(found, subtitle=f"{len(self)} frequencies from {labels[0]} to {labels[-1]}")

    def samples(self, places: Places) -> Samples:
        parts = [each.samples(places).arrays for each in self.solutions]
        return Samples(places, stacked(self.axis, parts))

    def __repr__(self) -> str:
        low, high = self.frequencies.min(), self.frequencies.max()
        kind = type(self.solutions[0]).__name__
        return f"Sweep({len(self)} frequencies from {low:g} to {high:g} Hz of {kind})"


def frequencies_of(given: Iterable[float]) -> NDArray[np.float64]:
    """Positive frequencies (n,) in Hz, one at least."""
    listed = isinstance(given, Iterable) and not isinstance(given, np.ndarray | str | bytes)
    needed = "a sweep needs positive frequencies in Hz, one or a list"
    return positive_numbers(list(given) if listed else given, "frequencies", needed)  # type: ignore[arg-type]


def warned_of_coarse_meshes(
    problem_at: Callable[[float], Any], frequencies: NDArray[np.float64]
) -> "warnings.catch_warnings[None]":
    """A context in which problems at frequencies (n,) in Hz do not warn of too few elements per wavelength: this is
    done here, once, of the highest frequency, with the number of frequencies that have too few."""
    highest = float(frequencies.max())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")  # other warnings come when the problems are solved
        warnings.simplefilter("always", CoarseMeshWarning)
        problem_at(highest)
    coarse = [each.message for each in caught if isinstance(each.message, CoarseMeshWarning)]
    if coarse:
        worst = min(coarse, key=lambda each: each.elements)
        first = highest * worst.elements / worst.needed
        concerned = (
            f"{np.count_nonzero(frequencies > first)} of {len(frequencies)} frequencies, those above {first:.4g}"
        )
        several = f"{concerned} Hz, have too coarse a mesh; the highest one, {highest:.6g} Hz: "
        text = f"{several if len(frequencies) > 1 else ''}{worst}"
        warn_of_accuracy(CoarseMeshWarning(text, worst.elements, worst.needed))
    return warnings.catch_warnings(action="ignore", category=CoarseMeshWarning)


@named_options
def frequency_sweep(
    problem: Any, wave: Any, wavenumbers: Iterable[complex], **options: Unpack[SolveChoices]
) -> Iterator[Any]:
    """Solve at each wavenumber in turn; yields the solutions.

    problem: any with `at(wavenumber)`: acoustic, conductors, penetrable bodies, antennas. wave: what `problem.solve`
    takes; a plane wave, point source or dipole keeps its direction or position and its amplitude and gets the new
    wavenumber, voltages of an antenna do not change. A generator: one matrix is in memory at a time. options:
    those of `Problem.solve`. What `problem.at` keeps (the ratio of wavenumbers, permittivities) is kept.
    Raises TypeError for a problem without a wavenumber, a wave whose wavenumber cannot be changed, and wavenumbers that
    are not a list.

        strengths = [s.target_strength(directions) for s in frequency_sweep(problem, wave, 2 * np.pi * frequencies / c)]
        impedances = [s.input_impedance for s in frequency_sweep(antenna, 1.0, wavenumbers)]
    """
    if not hasattr(problem, "at") or not hasattr(problem, "solve"):
        raise TypeError(
            f"a sweep needs a problem with at(wavenumber), as for scattering and antennas, got {type(problem).__name__}"
        )
    if hasattr(wave, "wavenumber") and not hasattr(wave, "at"):
        raise TypeError(
            "a sweep needs a wave whose wavenumber can be changed, a PlaneWave or PointSource or dipole, "
            f"got {type(wave).__name__}"
        )
    try:
        each = iter(wavenumbers)
    except TypeError:
        raise TypeError(
            f"a sweep needs the wavenumbers in 1/m, a list or an array, got {wavenumbers!r}: one of them is [k]"
        ) from None
    for wavenumber in each:
        yield problem.at(wavenumber).solve(wave_at(wave, wavenumber), **options)


def wave_at(wave: Any, wavenumber: complex) -> Any:
    """A wave at another wavenumber; data without one as they are."""
    return wave.at(wavenumber) if hasattr(wave, "at") and hasattr(wave, "wavenumber") else wave


def values_of(
    problem: Any,
    frequencies: Iterable[float],
    wave: Any,
    speed: float,
    measured: Measured,
    interpolate: float | None = None,
    sweep_file: str | os.PathLike[str] | None = None,
    **options: Unpack[SolveChoices],
) -> SweptValues:
    """Values by frequency in Hz that are measured of solutions, as by `sweep_of`; see `swept_values`.

    Rational functions need values without noise: with `interpolate`, unless options say otherwise, matrices that are
    stored are factorised, and iterations go to 1e-8.
    """
    hertz, chosen = frequencies_of(frequencies), dict(options)
    if interpolate is not None:
        chosen.setdefault("rtol", 1e-8)
        stored = chosen.get("method", AUTO) in ("dense", AUTO) and problem.unknowns <= largest_dense()
        if stored and "preconditioner" not in chosen:
            chosen.setdefault("solver", "lu")

    def problem_at(frequency: float) -> Any:
        return problem.at(2 * np.pi * frequency / speed)

    def solved_at(frequency: float) -> Any:
        return problem_at(frequency).solve(wave_at(wave, 2 * np.pi * frequency / speed), **chosen)

    with warned_of_coarse_meshes(problem_at, hertz):
        return swept_values(problem_at, solved_at, hertz, measured, interpolate, sweep_file, chosen)


def sweep_of(
    problem: Any, frequencies: Iterable[float], wave: Any, speed: float, **options: Unpack[SolveChoices]
) -> Sweep:
    """The solutions of a problem at frequencies in Hz, its waves of that speed in m/s."""
    hertz = frequencies_of(frequencies)
    with warned_of_coarse_meshes(lambda frequency: problem.at(2 * np.pi * frequency / speed), hertz):
        return Sweep(hertz, tuple(frequency_sweep(problem, wave, 2 * np.pi * hertz / speed, **options)))
