"""The number of threads that the environment requests."""

import os

VARIABLE = "NUMBA_NUM_THREADS"


def threads_asked() -> int | None:
    """The number of threads in NUMBA_NUM_THREADS, None without it; ValueError for a value that is no positive whole
    number, which Numba does not name either."""
    setting = os.environ.get(VARIABLE)
    if not setting:
        return None
    try:
        number = int(setting)
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError(f"the environment has {VARIABLE}={setting}: set it to a positive whole number, or unset it")
    return number
