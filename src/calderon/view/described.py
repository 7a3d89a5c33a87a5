"""Objects that say in one line what they are, and show their text in notebooks."""

from abc import abstractmethod
from html import escape
from typing import Any


class Described:
    """An object with a short `repr` instead of all its numbers; a notebook shows its text.

    A dataclass makes a `repr` of all fields unless its class has one: each subclass gets that of its parent.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    @property
    @abstractmethod
    def brief(self) -> str:
        """A description in a few words."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.brief})"

    def _repr_html_(self) -> str:
        """Its text for a notebook."""
        return f"<b>{type(self).__name__}</b><pre>{escape(str(self))}</pre>"
