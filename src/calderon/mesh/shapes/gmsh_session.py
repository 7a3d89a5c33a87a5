"""The program gmsh with a model of its own, whatever its caller does with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from calderon.mesh.errors import MeshError


@contextmanager
def gmsh_model(name: str) -> Iterator[Any]:
    """gmsh with an empty model and its default options, without output. At the end it is shut down or, where the
    caller uses gmsh, back at the caller's model and options. MeshError if gmsh is not installed, and for its errors."""
    try:
        import gmsh
    except ImportError:
        raise MeshError("this mesh is made by gmsh, which is not installed: pip install 'calderon[gmsh]'") from None
    with _kept_session(gmsh) if gmsh.isInitialized() else _own_session(gmsh):
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.model.add(name)
        try:
            yield gmsh
        except Exception as error:
            if type(error) is not Exception:  # gmsh raises nothing narrower
                raise
            raise MeshError(f"gmsh could not mesh the {name}: {error}; try another length of edges") from None


@contextmanager
def _own_session(gmsh: Any) -> Iterator[None]:
    gmsh.initialize(interruptible=False)
    try:
        yield
    finally:
        gmsh.finalize()


@contextmanager
def _kept_session(gmsh: Any) -> Iterator[None]:
    """The caller's models stay; a model that was added inside is removed at the end."""
    with TemporaryDirectory() as folder:
        current, options = gmsh.model.getCurrent(), str(Path(folder) / "caller.opt")
        gmsh.write(options)
        gmsh.option.restoreDefaults()
        try:
            yield
        finally:
            gmsh.merge(options)  # before the end of this model: gmsh would give a nameless one the name of the file
            gmsh.model.remove()
            gmsh.model.setCurrent(current)
