"""What a process shares with others on its machine: signals, places on the disk, and what the dead have left there."""

from calderon.processes.signals import ECHO, STOPS, Postponed, Stopped, Stops, postponed, stops_raise

__all__ = ["ECHO", "STOPS", "Postponed", "Stopped", "Stops", "postponed", "stops_raise"]
