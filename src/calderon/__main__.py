"""The command `calderon`, also as `python -m calderon` where its script is not on the path."""

import gc

from calderon.processes import lasting_imports

with lasting_imports():
    from calderon.cli import app


def main() -> None:
    """Run the command. At its end the process frees its memory without looking for garbage first."""
    try:
        app(prog_name="calderon")
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
