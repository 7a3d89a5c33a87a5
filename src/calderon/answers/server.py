"""Tools for programs by the Model Context Protocol: describe, plan, run and read, in one folder.

Each computation is a process of its own, `calderon plan | run --json --inside FOLDER`: what it prints cannot disturb
the protocol, and its memory and its crash are its own. Nothing outside of the folder is read or written: names are
relative, and links, `..` and absolute paths that lead out are refused here and by the process.
"""

import asyncio
import base64
import json
import sys
from pathlib import Path
from typing import Any

from calderon.answers.answer import VERSION
from calderon.answers.answer import schema as answer_schema
from calderon.answers.cases import refused
from calderon.answers.exit_codes import UNEXPECTED, WRONG_INPUT
from calderon.case.registry import kinds
from calderon.case.table import AT_MOST, choices
from calderon.processes import package_version
from calderon.report import example, examples

TEXTS = (".json", ".csv", ".toml", ".txt", ".s1p", ".s2p", ".s3p", ".s4p")
PICTURES = (".png",)
LARGEST = 200_000
"""Bytes of a file that are read at once."""
ADVICE = """Boundary elements. Describe a kind of case or an example, write its case file with plan or run (text=), and
look at the verdict: ok, refused with reasons, or accuracy not shown. With ok alone the numbers have a stated error."""


class Folder:
    """The only folder of a server, and the names of files in it."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve(strict=True)

    def inside(self, name: str) -> Path:
        """The path of a relative name; ValueError for one that leads out of the folder, also through links."""
        given = Path(name)
        if not name.strip() or "\0" in name or given.is_absolute() or ".." in given.parts:
            raise ValueError(f"{name[:200]!r} is no name in the folder: names are relative to it, without ..")
        try:
            place = (self.path / given).resolve()
        except (OSError, RuntimeError):
            raise ValueError(f"{name[:200]!r} is no name of a file") from None
        if not place.is_relative_to(self.path):
            raise ValueError(f"{name[:200]!r} leads out of the folder by a link")
        return place

    def case(self, name: str, text: str | None) -> Path:
        """The path of a case file, written first where a text is given."""
        path = self.inside(name)
        if path.suffix != ".toml":
            raise ValueError(f"{name!r}: the name of a case file ends in .toml")
        if text is not None:
            if len(text.encode()) > AT_MOST.case:
                raise ValueError(f"a case file has at most {AT_MOST.case} bytes")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return path

    def read(self, name: str, offset: int = 0) -> dict[str, Any]:
        """The text of a file from a byte on, a picture in base64, or the names in a folder."""
        path = self.inside(name) if name not in ("", ".") else self.path
        if path.is_dir():
            found = sorted(each for each in path.iterdir() if not each.name.startswith("."))
            return {"folder": name, "names": [f"{each.name}/" if each.is_dir() else each.name for each in found[:1000]]}
        if not path.is_file():
            raise ValueError(f"{name!r}: no such file in the folder")
        if path.suffix not in (*TEXTS, *PICTURES):
            raise ValueError(f"{name!r}: {choices(path.suffix, (*TEXTS, *PICTURES))}")
        size = path.stat().st_size
        if path.suffix in PICTURES:
            if size > 10 * LARGEST:
                raise ValueError(f"{name!r} has {size} bytes: a picture has at most {10 * LARGEST}")
            return {"file": name, "bytes": size, "base64": base64.b64encode(path.read_bytes()).decode()}
        if not 0 <= offset <= size:
            raise ValueError(f"offset {offset}: the file has {size} bytes")
        with path.open("rb") as stream:
            stream.seek(offset)
            data = stream.read(LARGEST)
        following = offset + len(data) if offset + len(data) < size else None
        return {"file": name, "bytes": size, "text": data.decode("utf-8", "replace"), "next_offset": following}


def described(name: str = "") -> dict[str, Any]:
    """Names of kinds and examples; of one kind the schema of its files, of one example its case file; the schema of
    answers by the name "answers"."""
    known = {each.name: each for each in kinds()}
    if name in known:
        return {"kind": name, "title": known[name].title, "schema": known[name].model.model_json_schema()}
    if name == "answers":
        return answer_schema()
    shipped = examples()
    if name in shipped:
        return {"example": name, "text": example(name).text}
    if name:
        raise ValueError(f"unknown {name[:200]!r}: {choices(name, [*known, *shipped, 'answers'])}")
    return {
        "calderon": package_version(),
        "answers": VERSION,
        "kinds": {each.name: each.title for each in known.values()},
        "examples": {each: file.case.title for each, file in shipped.items()},
    }


async def _command(folder: Folder, command: str, case: Path, *options: str) -> dict[str, Any]:
    """The answer of `calderon plan | run --json` in a process, which ends where the request is cancelled."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "calderon", command, str(case), "--json", "--inside", str(folder.path), *options,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    text = output.decode("utf-8", "replace")
    try:
        found: dict[str, Any] = json.loads(text[text.index("{\n") :])
    except ValueError:
        reason = f"the process ended with {process.returncode} and without an answer, as for lack of memory"
        found = refused(command, case.name, reason, UNEXPECTED).model_dump(mode="json")
    return found


def tools(folder: Folder) -> dict[str, Any]:
    """The functions that a client may call, by name; their docstrings are what it reads of them."""

    def refusal(command: str, case: str, error: Exception) -> dict[str, Any]:
        return refused(command, case, str(error), WRONG_INPUT).model_dump(mode="json")

    async def describe(name: str = "") -> dict[str, Any]:
        """Kinds of cases and examples; by name the JSON schema of a kind, the case file of an example, or "answers"."""
        try:
            return described(name)
        except ValueError as error:
            return {"refused": str(error)}

    async def plan(case: str, text: str | None = None) -> dict[str, Any]:
        """Check a case file NAME.toml in the folder and estimate memory and time. text: writes or replaces it first."""
        try:
            return await _command(folder, "plan", folder.case(case, text))
        except (ValueError, OSError) as error:
            return refusal("plan", case, error)

    async def run(
        case: str, text: str | None = None, out: str = "", error: float = 0.1, estimate: bool = False,
        force: bool = False,
    ) -> dict[str, Any]:  # fmt: skip
        """Run a case file NAME.toml in the folder and write its result to the folder `out` (NAME-result unless given).

        text: writes or replaces the case file first. error: the largest relative error of the verdict "ok". estimate:
        solve on a second mesh, too. force: replace an old result.
        """
        try:
            path = folder.case(case, text)
            place = folder.inside(out or f"{Path(case).with_suffix('')}-result")
            flags = [flag for flag, given in (("--estimate", estimate), ("--force", force)) if given]
            return await _command(folder, "run", path, "--out", str(place), "--error", repr(float(error)), *flags)
        except (ValueError, OSError) as reason:
            return refusal("run", case, reason)

    async def read(name: str = ".", offset: int = 0) -> dict[str, Any]:
        """Read a file of a result (.json, .csv, .toml, Touchstone; .png in base64) or list a folder, by its name."""
        try:
            return folder.read(name, offset)
        except (ValueError, OSError) as error:
            return {"refused": str(error)}

    return {"describe": describe, "plan": plan, "run": run, "read": read}


def serve(path: Path) -> None:
    """Serve the tools on standard input and output until the client ends. RuntimeError without the package mcp."""
    try:
        from mcp.server import MCPServer
    except ImportError:
        raise RuntimeError("the Model Context Protocol needs the package mcp: pip install 'calderon[mcp]'") from None
    server = MCPServer("calderon", instructions=ADVICE, version=package_version(), log_level="WARNING")
    for name, function in tools(Folder(path)).items():
        server.add_tool(function, name=name)
    server.run("stdio")
