"""Checkpoints of a run in an HDF5 file, whole or not at all, and what must agree to continue from one.

Numbers enter digests. Functions are identified by their values: signals at some times of the run, fields by a few sums
over their values at the begin of the run. These numbers agree only to rounding where another device or another number
of ranks has computed, so they are compared with a tolerance.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.dg.domain import Domain
from calderon.dg.operator.boundary import conditions_by_face
from calderon.dg.operator.medium import medium_of
from calderon.dg.run.observer import Span, State
from calderon.dg.sources.currents import Load
from calderon.mesh import Material, TetrahedralMesh
from calderon.mesh.files.whole_file import file_path, whole_file
from calderon.waves import CurrentDipole, CurrentSource, GaussianPulse, RampedSine, TransientPlaneWave

KIND, VERSION = "calderon time stepping", 4
TOLERANCES = {"double": 1e-9, "single": 1e-4}
"""Tolerance of sums over fields relative to the root of the sum of their squares."""
SIGNAL_TOLERANCE = 1e-9
"""Tolerance of a signal relative to its largest value."""
TIMES = 500
"""Largest number of times at which signals are compared, in even and again in growing steps: most pulses come early."""
SUMS = 4
"""Number of sums over the values of a field, each with other weights."""


@dataclass(frozen=True, eq=False)
class RunKey:
    """exact: data that must be identical to the last bit, by name: the digests of `problem_of`, order, flux, precision,
    classes (elements by step), start, step and count, observers (all labels). signals (sources, times) of driven
    currents, at times that start, step and count give; initial_fields (2, 1 + SUMS) of E and Z0 H when the run begins,
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
        if timed and "sources" not in names and not _agree(self.signals, signals, SIGNAL_TOLERANCE):
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
    """(sources, times) signals of currents in the middle of some steps of a run, of all if there are few. Errors as for
    `Load.at`."""
    even, growing = np.linspace(1, span.count, TIMES), np.geomspace(1, span.count, TIMES)
    steps = np.unique(np.concatenate([even, growing]).astype(np.int64))
    times = span.start + (steps - 0.5) * span.step
    return np.array([[load.at(time) for time in times.tolist()] for load in loads]).reshape(len(loads), len(times))


def sums(field: NDArray[np.floating], domain: Domain) -> NDArray[np.float64]:
    """(1 + SUMS,) of a flat field of all ranks: the root of the sum of its squares, and sums with weights cos(k a)
    that go with the number k of the element times others that go with the component and the node."""
    own = domain.element_blocks.by_element(field.reshape(domain.element_blocks.shape))
    own = own.reshape(len(own), -1).astype(np.float64, copy=False)
    result = [float(np.vdot(own, own))]
    for n in range(1, 1 + SUMS):  # angles that are not fractions of a circle: no two weights are alike
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


@dataclass(frozen=True)
class Moment:
    """A run after that many steps: E and Z0 H (elements, 3, n) in the mesh's order, as they are in the middle of a run,
    and the states of its observers."""

    steps: int
    electric: NDArray[np.floating]
    magnetic: NDArray[np.floating]
    observed: list[State]


def write_checkpoint(path: str | os.PathLike[str], key: RunKey, moment: Moment) -> None:
    with whole_file(path) as scratch, h5py.File(scratch, "w") as file:
        file.attrs.update(kind=KIND, version=VERSION, steps=moment.steps, **key.exact)
        file["signals"], file["initial_fields"] = key.signals, key.initial_fields
        file["electric"], file["magnetic"] = moment.electric, moment.magnetic
        for number, state in enumerate(moment.observed):
            for name, values in state.items():
                file[f"observers/{number:03d}/{name}"] = values


def read_checkpoint(path: str | os.PathLike[str], key: RunKey) -> Moment | None:
    """The checkpoint, None if there is no file.

    Raises ValueError for a file of another kind or version, or a damaged one; OtherRun, naming what differs, for one of
    another run: mesh, materials, boundaries, sources, order, steps, observers and their places, or initial fields;
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
    try:
        with h5py.File(path, "r") as file:
            if file.attrs.get("kind") != KIND:
                raise ValueError(f"{str(path)!r} is not a checkpoint of a run: name another file, such as run.h5")
            if (version := file.attrs.get("version")) != VERSION:
                raise ValueError(
                    f"{str(path)!r} is a checkpoint of version {version}, of another release of calderon: version "
                    f"{VERSION} is needed; delete it to restart"
                )
            different = key.differing(file.attrs, file["signals"][:], file["initial_fields"][:])
            if different:
                raise OtherRun(path, different)
            observed = [{name: one[name][:] for name in one} for one in file.get("observers", {}).values()]
            return Moment(int(file.attrs["steps"]), file["electric"][:], file["magnetic"][:], observed)
    except (OSError, KeyError) as error:
        raise ValueError(f"{str(path)!r} is damaged: delete it to restart ({error})") from error
