"""The state of a run in an HDF5 file: whole or not at all, so that an interrupted run continues."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from calderon.dg.run.observer import State
from calderon.dg.run.run_key import RunKey
from calderon.mesh.files.whole_file import file_path, whole_file

KIND, VERSION = "calderon time stepping", 4


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
