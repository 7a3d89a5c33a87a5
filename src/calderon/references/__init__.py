"""Published and independent references, each computed and compared by `calderon validate`."""

from calderon.references.catalogue import REFERENCES, chosen
from calderon.references.reference import Reference, Validated

__all__ = ["REFERENCES", "Reference", "Validated", "chosen"]
