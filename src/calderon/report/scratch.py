"""What a run in time keeps while it lasts, beside the folder of its result: checkpoint and snapshots."""

import shutil
from pathlib import Path

from calderon.case import AnyCaseFile, TransientCase
from calderon.parallel import world

CHECKPOINT = "checkpoint.h5"


def scratch_folder(file: AnyCaseFile, out: Path) -> Path | None:
    """The hidden folder beside `out` for a run in time, made if need be; None for other problems."""
    if not isinstance(file.case, TransientCase):
        return None
    out = out.absolute()
    folder = out.with_name(f".{out.name}.run")
    if world().rank == 0:
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def has_checkpoint(scratch: Path | None) -> bool:
    """Whether an interrupted run can go on."""
    return scratch is not None and (scratch / CHECKPOINT).is_file()


def tidy(scratch: Path | None) -> None:
    """Remove the folder of a run that has ended, or has left nothing to go on from."""
    if scratch is not None and world().rank == 0 and not has_checkpoint(scratch):
        shutil.rmtree(scratch, ignore_errors=True)
