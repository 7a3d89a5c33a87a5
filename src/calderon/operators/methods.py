"""How an operator may be assembled: one table, method name -> builder, filled only by calderon/__init__.py.

A builder takes (operator, backend=, precision=, rtol=, progress=) and returns a SciPy LinearOperator. The table lets
`assemble("hmatrix")` reach a layer above without an import. It is read-only after start.
"""

import os
from collections.abc import Callable
from typing import Any

_builders: dict[str, Callable[..., Any]] = {}


def register(name: str, builder: Callable[..., Any]) -> None:
    """Enter a builder; each name once."""
    if _builders.setdefault(name, builder) is not builder:
        raise ValueError(f"method {name!r} is registered already")


def builder_for(name: str) -> Callable[..., Any]:
    """The builder of a method; ValueError naming the choices for an unknown one."""
    if not isinstance(name, str) or name not in _builders:
        choices = " or ".join(repr(each) for each in sorted(_builders))
        raise ValueError(f"unknown method {name!r}: choose {choices}")
    return _builders[name]


def special_options(
    method: str, keep_on_device: bool, matrix_file: str | os.PathLike[str] | None = None
) -> dict[str, Any]:
    """What only some builders are told: that dense matrices stay on the device, the file of an H-matrix. ValueError for
    other methods."""
    if keep_on_device and method != "dense":
        raise ValueError(f"keep_on_device=True is for dense matrices, not for method {method!r}: leave it out")
    if matrix_file is not None and method != "hmatrix":
        raise ValueError(f"matrix_file= is for method 'hmatrix', method {method!r} saves nothing: leave it out")
    options: dict[str, Any] = {"keep_on_device": True} if keep_on_device else {}
    return options if matrix_file is None else {**options, "matrix_file": matrix_file}
