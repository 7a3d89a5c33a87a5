"""Speed of calderon, as fractions of what the machine can do: `python -m benchmarks --help`."""
