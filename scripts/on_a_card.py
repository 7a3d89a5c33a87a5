"""Everything that needs a machine with a card, in twelve minutes: `python scripts/on_a_card.py [--wheels FOLDER]`.

First `python -m benchmarks gpu`, whose record is written after each row, then `python tests/on_cuda.py`. Each has
its own limit of seconds and ends by itself. The package and CuPy must be installed; on a machine without a network
`--wheels` installs them from a folder, which one with a network fills beforehand:

    pip wheel --no-deps --wheel-dir FOLDER .
    pip download --dest FOLDER ".[cuda]" pytest rich
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", help="folder of wheels to install from first")
    parser.add_argument("--seconds", type=float, default=480, help="limit of the measurements")
    parser.add_argument("--test-seconds", type=float, default=240, help="limit of the tests")
    parser.add_argument("--resume", action="store_true", help="go on with the newest record of measurements")
    options = parser.parse_args()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}

    def python(*arguments: str) -> int:
        return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment).returncode

    if options.wheels:
        names = "calderon[cuda]", "pytest", "rich"
        if python("-m", "pip", "install", "--no-index", "--find-links", options.wheels, *names):
            return 1
    resumed = ["--resume"] if options.resume else []
    measured = python("-m", "benchmarks", "gpu", "--seconds", str(options.seconds), *resumed)
    return python("tests/on_cuda.py", "--seconds", str(options.test_seconds)) or measured


if __name__ == "__main__":
    sys.exit(main())
