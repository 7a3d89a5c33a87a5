"""Files that a mesh file names, which are looked for in its own folder only: mesh files need not be trusted."""

import textwrap
from pathlib import Path

from calderon.mesh.errors import MeshError


def included(name: str, stack: tuple[Path, ...]) -> tuple[Path, ...]:
    """The stack with the file of that name on it: the first of stack is the mesh file, the last the one that names it.

    A name is relative to the folder of the file that names it, or else to that of the mesh file; backslashes separate
    folders, too. MeshError for a place outside the folder of the mesh file, also by a link, for a file that is missing
    or includes itself, for two files of the name, and for more than 20 files that include one another.
    """
    home, given = stack[0].resolve().parent, name
    name = textwrap.shorten(name, 200, placeholder=" ...")
    # files of that name in either folder
    try:
        wanted = Path(given.strip().replace("\\", "/"))
        places = {(folder / wanted).resolve() for folder in (stack[-1].resolve().parent, home)}
        inside = {each for each in places if each.is_relative_to(home)}
        found = sorted(each for each in inside if each.is_file())
    except (OSError, ValueError, RuntimeError):
        raise MeshError(f"the included file {name!r}: that is no name of a file") from None
    if not inside:
        raise MeshError(
            f"the included file {name!r} is outside of the folder of the mesh file: copy it into that folder"
        )
    if not found:
        raise MeshError(f"the included file {name!r} is not in the folder of the mesh file: copy it there")
    if len(found) > 1:
        raise MeshError(f"the included file {name!r} is there twice, in {found[0].parent} and {found[1].parent}")
    if found[0] in (each.resolve() for each in stack):
        raise MeshError(f"the included file {name!r} includes itself")
    if len(stack) >= 20:
        raise MeshError("more than 20 files include one another: write one")
    return (*stack, found[0])
