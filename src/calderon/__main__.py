"""The command `calderon`, also as `python -m calderon` where its script is not on the path."""

from calderon.processes import lasting_imports

with lasting_imports():
    from calderon.cli import app

if __name__ == "__main__":
    app(prog_name="calderon")
