"""The text of a small case that several tests run."""

CUBE = """\
[mesh]
shape = "cube"
size = "1 m"
h = "0.5 m"
[physics]
problem = "sound-hard"
wavenumber = 1.0
[incident]
direction = [1, 0, 0]
[output]
surface = []
far_field = { plane = "xy", count = 9 }
"""
