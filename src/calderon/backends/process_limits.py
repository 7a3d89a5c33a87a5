"""Memory that limits leave to this process: control groups of Linux, versions 1 and 2, and its own limits (ulimit)."""

import sys
from contextlib import suppress
from pathlib import Path, PurePosixPath

if sys.platform != "win32":
    import resource

MOUNT, TABLES = Path("/sys/fs/cgroup"), Path("/proc/self")
VERSIONS = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}
"""Files of a control group with its limit and its usage, and the entry of memory.stat with the cached files that the
kernel drops when memory is short, by the version of control groups."""


def left_by_limits(mount: Path = MOUNT, tables: Path = TABLES) -> int | None:
    """Bytes that the strictest limit leaves to this process, None without a limit: those of the control groups that it
    is in, also outer ones, and its own (RLIMIT_AS and RLIMIT_DATA). mount: where control groups are. tables: what /proc
    says of the process."""
    try:
        lines = (tables / "cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        lines = []
    left = []
    for line in [*lines, "0::/", "0:memory:/"]:  # within a container the path may be that outside: its root is tried
        _, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        if controllers and "memory" not in controllers.split(","):
            continue
        # the group and all that it is in
        parts = [part for part in PurePosixPath(path).parts if part not in ("/", "..")]
        for root in [mount / "memory"] if controllers else [mount, mount / "unified"]:
            groups = (root.joinpath(*parts[:depth]) for depth in range(len(parts), -1, -1))
            left += [_left_in_group(group, 1 if controllers else 2) for group in groups]
    # limits of the process itself, whose sizes are in pages
    with suppress(OSError, ValueError, NameError):  # Windows has none
        size, _, _, _, _, data, _ = map(int, (tables / "statm").read_text(encoding="ascii").split())
        for limit, pages in ((resource.RLIMIT_AS, size), (resource.RLIMIT_DATA, data)):
            allowed = resource.getrlimit(limit)[0]
            left.append(None if allowed == resource.RLIM_INFINITY else allowed - pages * resource.getpagesize())
    known = [each for each in left if each is not None]
    return max(min(known), 0) if known else None


def _left_in_group(group: Path, version: int) -> int | None:
    """Limit less usage of a group, without the cached files that the kernel drops; None without a limit."""
    limit_file, usage_file, dropped = VERSIONS[version]
    try:
        limit, usage = (int((group / name).read_text(encoding="ascii")) for name in (limit_file, usage_file))
    except (OSError, ValueError):  # "max", or no such group
        return None
    with suppress(OSError, ValueError):
        lines = (group / "memory.stat").read_text(encoding="ascii").splitlines()
        usage -= int(dict(line.split(maxsplit=1) for line in lines).get(dropped, 0))
    return limit - usage


def resident_bytes(tables: Path = TABLES) -> int | None:
    """Physical memory of this process in bytes, None where the system does not say it."""
    if sys.platform == "win32":
        return None
    try:
        return int((tables / "statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return None
