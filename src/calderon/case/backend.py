"""The name of what computes, in [solver] tables."""


def backend_name(value: str) -> str:
    """The name of a backend, of one of its devices, or "auto"."""
    name, _, number = value.partition(":")
    if value not in ("numba", "auto") and not (name in ("opencl", "cuda") and (not number or number.isdecimal())):
        raise ValueError("choose 'numba', 'opencl', 'cuda', a device of one such as 'cuda:1', or 'auto'")
    return value
