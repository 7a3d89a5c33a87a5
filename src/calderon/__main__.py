"""`python -m calderon`: the command `calderon`, also where its script is not on the path."""

from calderon.cli import app

app(prog_name="calderon")
