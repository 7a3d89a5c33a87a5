"""What a process shares with others on its machine: signals, places on the disk, and what the dead have left there."""

from calderon.processes.leftovers import mark, of_the_dead, remove
from calderon.processes.lock import InUse, held, lock_path, refuse_held
from calderon.processes.signals import ECHO, STOPS, Postponed, Stopped, Stops, postponed, stops_raise

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
    "of_the_dead",
    "postponed",
    "refuse_held",
    "remove",
    "stops_raise",
]
