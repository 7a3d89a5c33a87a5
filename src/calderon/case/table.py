"""What all tables of a case file share."""

from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """A table of a case file."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
