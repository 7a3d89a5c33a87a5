"""Things shared with other processes of the machine: signals, places on the disk, files that ended processes left."""

from calderon.processes.collection import lasting_imports
from calderon.processes.leftovers import leftovers, mark, remove
from calderon.processes.lock import InUse, held, lock_path, refuse_held
from calderon.processes.release import package_version
from calderon.processes.signals import ECHO, STOPS, Postponed, Stopped, Stops, postponed, stop_asked, stops_raise
from calderon.processes.threads_asked import threads_asked

__all__ = [
    "ECHO",
    "STOPS",
    "InUse",
    "Postponed",
    "Stopped",
    "Stops",
    "held",
    "lock_path",
    "mark",
    "leftovers",
    "package_version",
    "postponed",
    "refuse_held",
    "remove",
    "stop_asked",
    "stops_raise",
    "threads_asked",
    "lasting_imports",
]
