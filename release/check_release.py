"""Whether a tag may be released: `python release/check_release.py v0.2.0`, exit status 1 with the reasons if not.

The tag is the version of pyproject.toml, CHANGELOG.md has a section of it, and the recipe for conda-forge needs the
packages that pyproject.toml needs, of the same versions.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONDA_NAMES = {"matplotlib": "matplotlib-base"}
"""Packages that have another name on conda-forge."""


def mistakes(tag: str) -> list[str]:
    """The reasons why a tag may not be released; none of one that may."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = []
    if tag != f"v{project['version']}":
        found.append(f"the tag is {tag}, but pyproject.toml has the version {project['version']}")
    if not re.search(rf"(?m)^## {re.escape(tag.removeprefix('v'))}\b", (ROOT / "CHANGELOG.md").read_text("utf-8")):
        found.append(f"CHANGELOG.md has no section '## {tag.removeprefix('v')}'")
    recipe = (ROOT / "release" / "recipe.yaml").read_text(encoding="utf-8")
    needs = [f"python {project['requires-python']}"]
    for each in project["dependencies"]:
        name, versions = re.match(r"([\w-]+)(.*)", each).groups()
        needs.append(f"{CONDA_NAMES.get(name, name)} {versions}")
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    listed = re.findall(r"    - (.+)", run)
    if listed != needs:
        found.append(f"recipe.yaml needs {sorted(set(listed) ^ set(needs))} otherwise than pyproject.toml")
    return found


if __name__ == "__main__":
    if reasons := mistakes(sys.argv[1] if len(sys.argv) > 1 else ""):
        sys.exit("\n".join(reasons))
