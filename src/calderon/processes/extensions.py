"""Objects that other installed packages add by the entry points in their metadata.

| group | an entry point gives | found when |
|---|---|---|
| `calderon.greens` | a Green's function | `calderon` has no name of that kind |
| `calderon.problems` | a kind of case, or a problem on surfaces | a case file names an unknown table or problem |
| `calderon.readers` | a mesh format | a file has an unknown ending |
| `calderon.panels` | a panel | a report is written |

The metadata of installed packages is read then, never by `import calderon`.
"""

from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

T = TypeVar("T")


class ExtensionError(RuntimeError):
    """An entry point of another package cannot be used; the message names both."""


def extension_names(group: str) -> list[str]:
    """Names of all entry points of a group; nothing is imported."""
    return sorted({each.name for each in entry_points(group=group)})


def extensions(group: str, kind: type[T] | tuple[type[T], ...]) -> dict[str, T]:
    """All objects of a group by name; ExtensionError for one that cannot be imported or is of no such kind."""
    return {each.name: _loaded(each, kind) for each in entry_points(group=group)}


def extension(group: str, name: str, kind: type[T] | tuple[type[T], ...]) -> T | None:
    """The object of that name in a group, None without one; ExtensionError as for `extensions`."""
    found = entry_points(group=group, name=name)
    return _loaded(next(iter(found)), kind) if found else None


def _loaded(entry: EntryPoint, kind: Any) -> Any:
    package = f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unknown package"
    origin = f"the entry point {entry.name!r} of {package} in the group {entry.group!r} ({entry.value})"
    try:
        found = entry.load()
    except Exception as error:  # of any code of another package
        raise ExtensionError(f"{origin} cannot be imported: {type(error).__name__}: {error}") from error
    if not isinstance(found, kind):
        wanted = " or ".join(each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,)))
        raise ExtensionError(f"{origin} gives {type(found).__name__!r}, but {wanted} is needed")
    return found
