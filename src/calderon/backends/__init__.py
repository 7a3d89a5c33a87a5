"""Where kernels run. Knows nothing of meshes or equations."""

from calderon.backends.backend import available, check_backend, real_type
from calderon.backends.memory import format_bytes, free_memory, require_memory
from calderon.backends.numba import thread_count
from calderon.backends.threads import run_tasks

__all__ = [
    "available",
    "check_backend",
    "format_bytes",
    "free_memory",
    "real_type",
    "require_memory",
    "run_tasks",
    "thread_count",
]
