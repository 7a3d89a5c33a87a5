"""Meshes that ship with the package."""

from importlib.resources import files

import numpy as np

from calderon.mesh.errors import MeshError
from calderon.mesh.triangles import TriangleMesh

SAMPLES = {("submarine", "coarse"): "submarine_coarse.npz", ("submarine", "fine"): "submarine_fine.npz"}


def sample(name: str, resolution: str = "coarse") -> TriangleMesh:
    """A mesh that ships with the package, in metres.

    "submarine": closed hull of 62 m from the bow at x = -31 m to the stern at x = 31 m, radius 3.5 m, with sail (up to
    z = 7.2 m), sail planes and a cruciform tail; parts are named "hull", "sail", "sail planes", "rudders". Resolution
    "coarse" has edges of about 1 m (for wavelengths above 6 m), "fine" of about 0.5 m (above 3 m).

    Raises MeshError for an unknown name or resolution.
    """
    names, resolutions = sorted({key[0] for key in SAMPLES}), sorted({key[1] for key in SAMPLES})
    if name not in names or resolution not in resolutions:
        raise MeshError(
            f"unknown sample {name!r} with resolution {resolution!r}: "
            f"choose the name from {', '.join(map(repr, names))} and resolution {', '.join(map(repr, resolutions))}"
        )
    with (files("calderon.mesh") / "data" / SAMPLES[name, resolution]).open("rb") as stream, np.load(stream) as data:
        tags = dict(zip(data["names"].tolist(), data["values"].tolist(), strict=True))
        return TriangleMesh(data["vertices"], data["triangles"].astype(np.int64), data["tags"], tags)
