"""Both fields on the whole mesh at chosen times, as files for ParaView."""

import os
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from calderon.dg.domain import Domain
from calderon.dg.run.observer import Instant, Observer, State
from calderon.files import file_path, whole_file
from calderon.files.vtu import write_grid
from calderon.mesh import TetrahedralMesh
from calderon.validation import whole_number

COLLECTION = "fields.pvd"


class Snapshots(Observer):
    """VTU files fields_0001.vtu, ... and the collection fields.pvd, which lists their times, in a folder; made by
    `MaxwellDG.add_snapshots`.

    Each holds "E (V/m)" and "H (A/m)", without materials "H (E0/eta)" with epsilon = mu = 1, in single precision at the
    four corners of every tetrahedron, which share no points: fields may jump across faces. The folder is created if
    needed. H of leap-frog is half a step ahead. folder: where they are. files: names and times in s so far.
    """

    grows = True

    def __init__(self, folder: str | os.PathLike[str], stride: int, first: int, domain: Domain, mesh: TetrahedralMesh):
        self._stride, self._first = whole_number(stride, "stride"), whole_number(first, "first")
        self.folder = file_path(folder, "a snapshot of fields", "fields", "a folder")
        self._domain, self._mesh = domain, mesh
        self.files: list[tuple[str, float]] = []
        if domain.communicator.rank == 0:
            if self.folder.exists() and not self.folder.is_dir():
                raise ValueError(f"folder={str(folder)!r} is a file: name a folder, which is created if needed")
            self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def label(self) -> str:
        return f"snapshots every {self._stride} steps from {self._first}"

    def wanted(self, step: int) -> bool:
        return step >= self._first and (step - self._first) % self._stride == 0

    def record(self, now: Instant) -> None:
        """Write one file of both fields at this time, by rank 0; all ranks call it."""
        fields = {
            "E (V/m)": self._at_corners(now.electric),
            f"H ({self._domain.medium.magnetic_unit})": self._at_corners(now.magnetic) / self._domain.medium.impedance,
        }
        name = f"fields_{len(self.files) + 1:04d}.vtu"
        self.files.append((name, float(now.time)))
        if self._domain.communicator.rank:
            return
        # one file for this time, and the list of all files anew
        corners = self._mesh.vertices[self._mesh.tetrahedra].reshape(-1, 3)
        cells = [("tetra", np.arange(len(corners)).reshape(-1, 4))]
        data = {key: values.astype(np.float32) for key, values in fields.items()}
        with whole_file(self.folder / name) as partial:
            write_grid(partial, corners, cells, data, {"material": self._mesh.tags})
        self._write_collection()

    def _at_corners(self, field: NDArray[np.floating]) -> NDArray[np.float64]:
        """(4 tetrahedra, 3) of all ranks."""
        element_blocks = self._domain.element_blocks
        values = element_blocks.reference.interpolation(np.vstack([np.zeros(3), np.eye(3)]))
        own = values @ element_blocks.vectors(field.reshape(element_blocks.shape))
        return self._domain.everywhere(own).reshape(-1, 3)

    def _write_collection(self) -> None:
        lines = [f'<DataSet timestep="{time!r}" part="0" file={quoteattr(name)}/>' for name, time in self.files]
        text = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n<Collection>\n'
        with whole_file(self.folder / COLLECTION) as partial:
            partial.write_text(text + "\n".join(lines) + "\n</Collection>\n</VTKFile>\n", encoding="utf-8")

    def state(self) -> State:
        return {"times": np.array([time for _, time in self.files])}

    def restore(self, state: State) -> None:
        self.files = [(f"fields_{n + 1:04d}.vtu", float(time)) for n, time in enumerate(state["times"])]
