"""Checkpoints of a run in an HDF5 file, whole or not at all, and what must agree to continue from one.

Numbers enter digests. Functions are identified by their values: signals at some times of the run, fields by a few sums
over their values at the begin of the run. These numbers agree only to rounding where another device or another number
of ranks has computed, so they are compared with a tolerance.
"""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.dg.domain import Domain
from calderon.dg.operator.boundary import conditions_by_face
from calderon.dg.operator.medium import medium_of
from calderon.dg.run.observer import Span, State
from calderon.dg.sources.currents import Load
from calderon.files import FileKind, SavedGroup, file_path, new_file, put, saved_file
from calderon.files.formats import h5py
from calderon.mesh import Material, TetrahedralMesh
from calderon.waves import CurrentDipole, CurrentSource, GaussianPulse, RampedSine, TransientPlaneWave

KIND = FileKind("calderon time stepping", "checkpoint", "delete it to restart", version=5, former=4)
TOLERANCES = {"double": 1e-9, "single": 1e-4}
"""Tolerances of sums over fields relative to the root of the sum of their squares, by precision; that of signals
relative to their largest value is 1e-9."""


@dataclass(frozen=True, eq=False)
class RunKey:
    """exact: data that must be identical to the last bit, by name: the digests of `problem_of`, order, flux, precision,
    classes (elements by step), start, step and count, observers (all labels). signals (sources, times) of driven
    currents, at times that start, step and count give; initial_fields (2, 5) of E and Z0 H when the run begins,
    see `sums`; both are empty without a checkpoint."""

    exact: dict[str, Any]
    signals: NDArray[np.float64]
    initial_fields: NDArray[np.float64]

    def differing(
        self, exact: Mapping[str, Any], signals: NDArray[np.float64], initial_fields: NDArray[np.float64]
    ) -> list[str]:
        """Names of the parts that differ from another key."""
        names = [name for name, value in self.exact.items() if exact[name] != value]
        timed, placed = {"start", "step", "count"}.isdisjoint(names), {"mesh", "order"}.isdisjoint(names)
        if timed and "sources" not in names and not _agree(self.signals, signals, 1e-9):
            names.append("sources")
        if placed and not _agree(self.initial_fields, initial_fields, TOLERANCES[self.exact["precision"]]):
            names.append("initial fields")
        return names


def _agree(one: NDArray[np.float64], two: NDArray[np.float64], tolerance: float) -> bool:
    """Whether rows are the same, relative to their largest value."""
    if one.shape != two.shape:
        return False
    largest = np.maximum(np.abs(one), np.abs(two)).max(axis=1, keepdims=True, initial=0.0)
    return bool((np.abs(one - two) <= tolerance * largest).all())


def digest(*parts: ArrayLike) -> str:
    """Digest of arrays of numbers, with their kinds and shapes."""
    total = hashlib.sha256()
    for each in parts:
        array = np.ascontiguousarray(each)
        total.update(f"{array.dtype.str}{array.shape}".encode())
        total.update(array.tobytes())
    return total.hexdigest()[:32]


def mesh_digest(mesh: TetrahedralMesh) -> str:
    """Digest of vertices, tetrahedra, materials and boundary faces."""
    return digest(mesh.vertices, mesh.tetrahedra, mesh.tags, mesh.faces, mesh.face_tags)


def problem_of(
    mesh: TetrahedralMesh,
    materials: Mapping[str, Material] | None,
    boundaries: Mapping[str, str],
    sources: Sequence[Any],
) -> dict[str, str]:
    """Digests of mesh, constants of its parts, conditions at its boundary, and places, directions and constants of the
    sources; a density, which does not act on the fields, may change."""
    medium = medium_of(mesh, materials)
    tags, first = np.unique(mesh.tags, return_index=True)
    constants = medium.permittivity[first], medium.permeability[first], medium.loss[first]
    face_tags, faces = np.unique(mesh.face_tags, return_index=True)
    conditions = conditions_by_face(mesh, boundaries)[faces]
    return {
        "mesh": mesh_digest(mesh),
        "materials": digest(tags, *constants, [medium.speed, medium.impedance]),
        "boundaries": digest(face_tags, conditions),
        "sources": digest(*(part for source in sources for part in _constants(source, mesh))),
    }


def _constants(source: Any, mesh: TetrahedralMesh) -> list[ArrayLike]:
    """Numbers that define a source, except the time dependence of a user's signal."""
    if isinstance(source, TransientPlaneWave):
        wave = source.amplitudes
        return ["wave", wave.direction, wave.polarization, complex(wave.amplitude), float(source.frequency)]
    signal = source.signal
    known = type(signal) in (RampedSine, GaussianPulse)
    course = [type(signal).__name__, list(map(complex, vars(signal).values()))] if known else ["function"]
    if isinstance(source, CurrentSource):
        return ["current", mesh.names[source.part], source.direction, *course]
    assert isinstance(source, CurrentDipole)
    radius = np.nan if source.radius is None else float(source.radius)
    return ["dipole", source.position, source.moment, radius, *course]


def signals_of(loads: Sequence[Load], span: Span) -> NDArray[np.float64]:
    """(sources, times) signals of currents in the middle of some steps of a run, of all if there are few: 500 in even
    and 500 in growing distances, since most pulses come early. Errors as for `Load.at`."""
    even, growing = np.linspace(1, span.count, 500), np.geomspace(1, span.count, 500)
    steps = np.unique(np.concatenate([even, growing]).astype(np.int64))
    times = span.start + (steps - 0.5) * span.step
    return np.array([[load.at(time) for time in times.tolist()] for load in loads]).reshape(len(loads), len(times))


def sums(field: NDArray[np.floating], domain: Domain) -> NDArray[np.float64]:
    """(5,) of a flat field of all ranks: the root of the sum of its squares, and four sums with weights cos(k a)
    that go with the number k of the element times others that go with the component and the node."""
    own = domain.element_blocks.by_element(field.reshape(domain.element_blocks.shape))
    own = own.reshape(len(own), -1).astype(np.float64, copy=False)
    result = [float(np.vdot(own, own))]
    for n in range(1, 5):  # angles that are not fractions of a circle: no two weights are alike
        inside, elements = np.cos(np.sqrt(n + 1.0) * np.arange(own.shape[1])), np.cos(n * domain.part.elements)
        result.append(float(elements @ (own @ inside)))
    total = np.asarray(domain.communicator.total(np.array(result)))
    total[0] = np.sqrt(total[0])
    return total


class OtherRun(ValueError):
    """A checkpoint belongs to another run: `differing` has the names of what differs."""

    def __init__(self, path: str | os.PathLike[str], differing: Sequence[str]) -> None:
        super().__init__(
            f"{str(path)!r} belongs to another run ({', '.join(differing)} differ): delete it to restart, or name "
            "another file"
        )
        self.differing = tuple(differing)


Shapes = tuple[bool, dict[str, tuple[str, tuple[int, ...]]]]
"""Whether an observer has a row more for each record, and types and shapes of its state before a run, by name."""


@dataclass(frozen=True)
class Expected:
    """The expected contents of a checkpoint of a run: the type and the shape (elements, 3, n) of its fields, and for
    each observer the shapes of its state before the run."""

    real: np.dtype[np.floating]
    shape: tuple[int, ...]
    observed: Sequence[Shapes]


@dataclass(frozen=True)
class Moment:
    """A run after that many steps: E and Z0 H (elements, 3, n) in the mesh's order, as they are in the middle of a run,
    and the states of its observers."""

    steps: int
    electric: NDArray[np.floating]
    magnetic: NDArray[np.floating]
    observed: list[State]


def write_checkpoint(path: str | os.PathLike[str], key: RunKey, moment: Moment) -> None:
    """Write a checkpoint, whole or not at all."""
    with new_file(path, KIND) as file:
        file.attrs.update(steps=moment.steps, **key.exact)
        put(file, "signals", key.signals)
        put(file, "initial_fields", key.initial_fields)
        put(file, "electric", moment.electric)
        put(file, "magnetic", moment.magnetic)
        for number, state in enumerate(moment.observed):
            group = file.create_group(f"observers/{number:03d}")
            for name, values in state.items():
                put(group, name, values)


def read_checkpoint(path: str | os.PathLike[str], key: RunKey, expected: Callable[[], Expected]) -> Moment | None:
    """The checkpoint, None if there is no file.

    expected: makes what it must hold; every rank calls it. Raises ValueError for a file of another kind or version;
    DamagedFile for a damaged one, and for one whose numbers are not those of such a run: steps (all of them at most),
    shapes and types of the fields and of the observers' states, finite numbers; OtherRun, naming what differs, for one
    of another run: mesh, materials, boundaries, sources, order, steps, observers and their places, or initial fields;
    TypeError for another type than a path.
    """
    if file_path(path, "a checkpoint", "run.h5").is_dir():
        raise ValueError(f"checkpoint={str(path)!r} is a folder: name a file in it, such as run.h5")
    if not Path(path).absolute().parent.is_dir():
        raise ValueError(f"checkpoint={str(path)!r}: there is no folder {str(Path(path).parent)!r}: create it first")
    if not Path(path).is_file():
        return None
    if not h5py.is_hdf5(path) and Path(path).suffix not in (".h5", ".hdf5"):
        raise ValueError(f"checkpoint={str(path)!r} is not a checkpoint: name another file, such as run.h5")
    # whether it is of this run
    with saved_file(path, KIND) as file:
        known = file.array("signals", np.float64), file.array("initial_fields", np.float64)
        file.require(all(each.ndim == 2 for each in known), "signals and initial fields are no tables")
        different = key.differing({name: file.scalar(name) for name in key.exact}, *known)
        if different:
            raise OtherRun(path, different)
        # its contents, which must be those of such a run
        file.require_memory("the checkpoint")
        steps = file.whole("steps")
        file.require(steps <= key.exact["count"], f"{steps} steps are done of a run of {key.exact['count']}")
        wanted = expected()
        fields = [file.array(name, wanted.real, wanted.shape) for name in ("electric", "magnetic")]
        return Moment(steps, fields[0], fields[1], _observed(file, wanted.observed, steps))


def _observed(file: SavedGroup, expected: Sequence[Shapes], steps: int) -> list[State]:
    """The states of observers, whose arrays have the types and shapes of those before the first step; what grows with
    the records has as many more rows in all arrays of an observer, at most one for each step; fewer, where the same
    simulation was interrupted later."""
    if not expected:
        return []
    observers, numbers = file["observers"], [f"{number:03d}" for number in range(len(expected))]
    observers.require(observers.names == numbers, f"{len(observers.names)} observers instead of {len(expected)}")
    states = list[State]()
    for number, (grows, arrays) in zip(numbers, expected, strict=True):
        group = observers[number]
        group.require(group.names == sorted(arrays), "the state of another observer")
        states.append({name: group.array(name, kind, (None, *shape[1:])) for name, (kind, shape) in arrays.items()})
        # records since the begin of the run, as many in all arrays
        more = {len(states[-1][name]) - shape[0] for name, (_, shape) in arrays.items()}
        most = max(more, default=0)
        fits = len(more) <= 1 and (most <= steps if grows else most == 0)
        group.require(fits, "records of another number of steps")
    return states
