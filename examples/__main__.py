"""Run every example: `python -m examples FOLDER` writes the pictures of each into FOLDER/name."""

import runpy
import sys
import time
from pathlib import Path


def main(folder: Path) -> None:
    """Run the other scripts of this folder one after the other; the first that misses its number stops the run."""
    for script in sorted(Path(__file__).parent.glob("[!_]*.py")):
        began = time.perf_counter()
        print(f"== {script.stem}")
        sys.argv = [str(script), str(folder / script.stem)]
        runpy.run_path(str(script), run_name="__main__")
        print(f"   {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
