"""Panels of fields in time, by topics."""

from calderon.kinds.transient.panels.amplitudes import absorption, far_field, feeds, powers
from calderon.kinds.transient.panels.fields import fields, planes, signals, snapshots
from calderon.kinds.transient.panels.run import error, mesh, run
from calderon.report.panels import unknowns

PANELS = (absorption, feeds, far_field, powers, error, unknowns, run, mesh, snapshots, signals, planes, fields)
"""In the order in which they appear."""
