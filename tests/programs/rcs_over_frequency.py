"""The radar cross-section of a small sphere over frequency, as a labelled array; Rayleigh: it grows as f^4."""

import numpy as np

import calderon as cal

mesh = cal.mesh.sphere(radius=0.1, h=0.06)
problem = cal.PECScattering(mesh, frequency=100e6)
sweep = problem.sweep([50e6, 100e6], cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0]))
data = sweep.far_field_data(theta=np.radians([0, 90, 180]), phi=[0.0])
assert data["rcs"].dims == ("frequency", "theta", "phi") and data["rcs"].attrs["units"] == "m^2"
back = data["rcs"].sel(theta=np.pi, phi=0.0)
assert abs(back.sel(frequency=100e6) / back.sel(frequency=50e6) / 16 - 1) < 0.1
table = data.to_dataframe()
assert len(table) == 6 and "rcs_level" in table
