"""Run the notebooks of examples/notebooks, and write their pages with outputs and pictures: `make notebooks`.

    python docs/tools/notebooks.py [--check] [NAME ...]

--check: run them, and write nothing. The exit status is 1 where a cell raises an error or a notebook has no picture. It
needs the extra "notebook". Pages are in docs/notebooks and are committed, so that the documentation is built without
running anything.
"""

import base64
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
SOURCES = HERE.parent / "examples" / "notebooks"
TARGET = HERE / "notebooks"
TIMEOUT = 300
"""Seconds of a cell, at most."""


def executed(path: Path, folder: Path) -> Any:
    """A notebook with its outputs, run by this Python in a folder; CellExecutionError for an error in a cell."""
    import nbclient
    import nbformat
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class ThisPython(AsyncKernelManager):
        """Kernels of this Python, which end with their notebook."""

        @property
        def kernel_spec(self) -> KernelSpec:
            start = "-m", "ipykernel_launcher", "-f", "{connection_file}"
            return KernelSpec(
                argv=[sys.executable, *start],
                display_name="Python 3",
                language="python",
            )

    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(
        notebook,
        kernel_manager_class=ThisPython,
        timeout=TIMEOUT,
        resources=place,
    ).execute()
    return notebook


def page_of(notebook: Any, name: str) -> tuple[str, dict[str, bytes]]:
    """A page in Markdown, and its pictures by the names of their files."""
    parts, pictures = [], dict[str, bytes]()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {})
            shown = str(output.get("text") or data.get("text/plain", ""))
            # warnings name places of this machine
            if output.get("name") == "stderr" or "site-packages" in shown:
                continue
            if "image/png" in data:
                file = f"{name}-{len(pictures) + 1}.png"
                pictures[file] = base64.b64decode(data["image/png"])
                parts.append(f"![A picture of this cell](pictures/{file})")
            elif text := (output.get("text") or data.get("text/plain", "")).strip("\n"):
                text = re.sub(r"\b\d[\d.]*(e-\d+)? s\b", "... s", text.rstrip())
                parts.append(f"```text\n{text}\n```")
    parts.append(
        f"The notebook: {{download}}`{name}.ipynb <../../examples/notebooks/{name}.ipynb>`"
    )
    return "\n\n".join(parts) + "\n", pictures


def written(name: str, page: str, pictures: dict[str, bytes]) -> None:
    """Write a page and its pictures."""
    folder = TARGET / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{name}-*.png"):
        old.unlink()
    for file, content in pictures.items():
        (folder / file).write_bytes(content)
    (TARGET / f"{name}.md").write_text(page, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Run all notebooks, or those named; the exit status."""
    check, names = (
        "--check" in arguments,
        [each for each in arguments if each != "--check"],
    )
    sources = [SOURCES / f"{name}.ipynb" for name in names] or sorted(
        SOURCES.glob("*.ipynb")
    )
    begin, failed = time.perf_counter(), []
    for path in sources:
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            try:
                page, pictures = page_of(executed(path, Path(folder)), path.stem)
            except Exception as error:  # of any cell
                failed.append(path.stem)
                print(f"{path.stem}: {type(error).__name__}: {str(error)[-600:]}")
                continue
        if not pictures:
            failed.append(path.stem)
            print(f"{path.stem}: no picture")
        elif not check:
            written(path.stem, page, pictures)
        print(f"{path.stem}: {time.perf_counter() - started:.1f} s", flush=True)
    print(f"{len(sources)} notebooks in {time.perf_counter() - begin:.1f} s")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
