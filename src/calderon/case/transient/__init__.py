"""Case files of fields in time: their tables; `building` turns them into a simulation."""

from calderon.case.transient.models import PROBLEM, TransientCase
from calderon.case.transient.output import Cut, Output, Snapshots

__all__ = ["PROBLEM", "Cut", "Output", "Snapshots", "TransientCase"]
