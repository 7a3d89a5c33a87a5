"""Features of some systems only are used in few places, which check the system first."""

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import calderon
from calderon.processes.leftovers import has_ended, mark

PACKAGE = Path(calderon.__file__).parent
POSIX = {
    *(
        "getuid",
        "geteuid",
        "getgid",
        "fork",
        "forkpty",
        "sysconf",
        "kill",
        "killpg",
        "register_at_fork",
        "mkfifo",
        "chown",
    ),
    *("SIGHUP", "SIGKILL", "SIGALRM", "SIGUSR1", "setitimer", "alarm", "pthread_kill", "sched_getaffinity"),
}
MODULES = {"fcntl", "pwd", "grp", "resource", "termios", "pty"}
GUARDED = {
    "backends/kernel_cache.py": {"getuid"},
    "backends/memory.py": {"sysconf"},
    "backends/numba.py": {"sched_getaffinity"},
    "backends/process_limits.py": {"resource"},
    "backends/threads.py": {"register_at_fork"},
    "processes/leftovers.py": {"kill"},
    "processes/signals.py": {"kill"},
}
"""These check the platform, or whether the name exists, or are right everywhere (a signal to the own process)."""


def trees_with(words: str) -> Iterator[tuple[Path, ast.Module]]:
    """Files of the package that contain one of the words, a regular expression, and their syntax trees."""
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if re.search(rf"\b({words})\b", text):
            yield path, ast.parse(text)


def test_names_of_posix_are_used_where_the_system_is_asked_for():
    found: dict[str, set[str]] = {}
    for path, tree in trees_with("|".join(POSIX | MODULES)):
        names = set[str]()
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in ("os", "signal")
            ):
                names |= {node.attr} & POSIX
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names} & MODULES
            elif isinstance(node, ast.ImportFrom):
                names |= {node.module or ""} & MODULES
        if names:
            found[path.relative_to(PACKAGE).as_posix()] = names
    assert found == GUARDED


def test_text_files_are_opened_with_an_encoding():
    """The default is not UTF-8 on Windows."""
    missing = []
    for path, tree in trees_with("read_text|write_text"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in ("read_text", "write_text") and not any(
                    one.arg == "encoding" for one in node.keywords
                ):
                    positional = len(node.args) > (node.func.attr == "write_text")
                    missing += [] if positional else [f"{path.name}:{node.lineno}"]
    assert not missing


def test_this_process_runs_and_one_that_cannot_be_does_not():
    own = mark()
    assert not has_ended(own)
    assert has_ended(own.replace(str(os.getpid()), str(2**22 + 1), 1))


def test_meshes_are_read_from_paths_with_spaces(tmp_path):
    folder = tmp_path / "a folder, with spaces"
    folder.mkdir()
    mesh = calderon.mesh.cube(1.0, h=1.0)
    for name in ("cube one.stl", "cube one.msh", "cube one.obj", "cube one.vtu"):
        calderon.mesh.write(mesh, folder / name)
        assert calderon.mesh.read(folder / name).number_of_triangles == mesh.number_of_triangles
