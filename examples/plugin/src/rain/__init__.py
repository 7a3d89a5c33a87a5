"""An example of a package that adds to calderon by entry points: one file for each recipe of CONTRIBUTING.md."""
