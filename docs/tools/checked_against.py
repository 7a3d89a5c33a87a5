"""Compute all references of `calderon validate`, and write the page "checked against" with their errors and times:

    python docs/tools/checked_against.py

The exit status is that of the command: 2 where a reference or a program is missing, 6 where an error is above its bound.
Numbers are those of the machine on which the page is written.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

from calderon.answers import validated
from calderon.references import REFERENCES
from calderon.references.python_peers import interpreter

PAGE = Path(__file__).resolve().parent.parent / "checked_against.md"
PEERS = (
    ("NEC-2", "nec2c", ["nec2c", "-h"]),
    ("bempp-cl", "bempp_cl", [interpreter(), "-c", "import bempp_cl"]),
    ("fmm3dpy", "fmm3dpy", [interpreter(), "-c", "import fmm3dpy"]),
    ("NGSolve", "ngsolve", [interpreter(), "-c", "import ngsolve"]),
    ("openEMS", "openEMS", ["openEMS"]),
)
"""Programs whose published or recorded numbers are compared: name, what is looked for, and a command that finds it."""
TEXT = """# Checked against

Published and independent numbers that every release meets. `calderon validate` computes each row again, on your machine; it ends with the
exit code 2 where a reference or what it needs is missing, and 6 where an error is above its bound. This page was written by
`python docs/tools/checked_against.py`.

{table}

All of them take {total:.0f} s of a processor here, with compiled kernels. Further ones: every script of the {{doc}}`/gallery` ends with an assertion
against a known value, and each report of a case with `exact = true` compares with a series.

## Other programs

| program | compared with calderon by | here |
|---|---|---|
{peers}

All but openEMS are run next to calderon by `calderon validate`, which ends with 2 where one is not installed: nec2c by `apt-get install nec2c`
on Debian, the others by `pip install bempp-cl fmm3dpy ngsolve PyNEC`, best into an environment of their own, whose Python is then named:
`CALDERON_PEERS=peers/bin/python calderon validate`. Of openEMS the numbers of another day are on the page.
"""
COMPARED = {
    "NEC-2": "`calderon validate dipole dipole-by-nec2c dipole-by-pynec`; `examples/yagi_deck.py`",
    "bempp-cl": "`calderon validate cube-by-bempp`; {doc}`/arrive/from_bempp`; speed in `benchmarks/README.md`",
    "fmm3dpy": "`calderon validate sums-by-fmm3d`; sums of point charges, `benchmarks/README.md`",
    "NGSolve": "`calderon validate sphere-by-ngsolve`; {doc}`/arrive/from_ngsolve`",
    "openEMS": "a patch fed by a line, {doc}`/guides/circuits`",
}


def row(each: Any) -> str:
    """One row of the table."""
    error = "-" if each.error is None else f"{each.error:.1e}"
    verdict = each.verdict if each.verdict == "ok" else f"{each.verdict}: {each.reason}"
    return (
        f"| {each.what} | {each.source} | `calderon validate {each.name}` | {error} | {each.bound:g} | "
        f"{each.cpu_seconds:.1f} | {verdict} |"
    )


def is_installed(command: list[str]) -> bool:
    """Whether a program can be started."""
    try:
        subprocess.run(command, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    if command[0] != sys.executable:
        return True
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main() -> int:
    """Write the page; the exit status."""
    validated(REFERENCES)  # compiles
    found = validated(REFERENCES)
    head = "| what | reference | command | error | bound | CPU s | |\n|---|---|---|---|---|---|---|"
    table = "\n".join([head, *map(row, found.validations)])
    peers = "\n".join(
        f"| {name} | {COMPARED[name]} | {'installed' if is_installed(command) else 'not installed'} |"
        for name, _, command in PEERS
    )
    total = sum(each.cpu_seconds for each in found.validations)
    PAGE.write_text(
        TEXT.format(table=table, peers=peers, total=total), encoding="utf-8"
    )
    print(table)
    return int(found.exit_code)


if __name__ == "__main__":
    sys.exit(main())
