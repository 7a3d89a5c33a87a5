"""Where kernels run. Knows nothing of meshes or equations."""

from calderon.backends.backend import DEVICE_BACKENDS, available_backends, get, real_type, survey
from calderon.backends.devices.counters import Counters, count_work
from calderon.backends.devices.device import (
    BuildError,
    Defines,
    Device,
    Kernels,
    LinearAlgebra,
    OnDevice,
    Source,
    real_name,
)
from calderon.backends.devices.device_matrix import DeviceMatrix, require_device_memory
from calderon.backends.devices.sharing import (
    Deliver,
    HandedOver,
    SharingWarning,
    at_the_same_time,
    balanced,
    runs_of_work,
    share_tasks,
)
from calderon.backends.execution import Execution, computable
from calderon.backends.memory import format_bytes, free_memory, require_memory, return_memory
from calderon.backends.numba import thread_count
from calderon.backends.threads import InOrder, at_once, counted, one_thread, run_tasks

available = available_backends
"""Short name of `available_backends`, for `cal.backends.available()`."""

__all__ = [
    "DEVICE_BACKENDS",
    "BuildError",
    "Counters",
    "Defines",
    "Device",
    "Deliver",
    "DeviceMatrix",
    "Execution",
    "HandedOver",
    "InOrder",
    "Kernels",
    "LinearAlgebra",
    "OnDevice",
    "SharingWarning",
    "Source",
    "at_once",
    "at_the_same_time",
    "available_backends",
    "balanced",
    "computable",
    "count_work",
    "counted",
    "format_bytes",
    "free_memory",
    "get",
    "one_thread",
    "real_name",
    "real_type",
    "require_device_memory",
    "require_memory",
    "return_memory",
    "run_tasks",
    "runs_of_work",
    "share_tasks",
    "survey",
    "thread_count",
]
