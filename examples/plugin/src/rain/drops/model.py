"""Case files of charged drops: [drops]."""

from pydantic import model_validator

from calderon.case import CaseModel, Table, key
from calderon.case.quantities import Place, Size


class Drops(Table):
    """[drops]: charged drops of one size."""

    charge: float = key("of each, in C", ..., gt=0)
    radius: Size = key("of each", ...)
    places: tuple[Place, ...] = key("of their middles", ..., min_length=1)

    @model_validator(mode="after")
    def _apart(self) -> "Drops":
        if len(set(self.places)) < len(self.places):
            raise ValueError("two drops are in one place: move one of them")
        return self


class DropCase(CaseModel):
    """A whole case file of charged drops."""

    drops: Drops
