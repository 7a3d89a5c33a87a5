"""Sound around elastic structures, which waves hit or forces drive."""

from calderon.kinds.bodies.computing import Structures
from calderon.kinds.bodies.model import StructureCase
from calderon.kinds.bodies.panels import PANELS

KIND = Structures("structure", "Elastic structures in a fluid", StructureCase, PANELS)
