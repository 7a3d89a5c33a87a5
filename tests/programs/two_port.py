"""Two coupled strips as a two-port in a Touchstone file; short dipoles are capacitors: R + jX with X < 0."""

import numpy as np
import skrf

import calderon as cal

strip = cal.mesh.plate(lengths=[0.02, 0.4], h=0.05)
mesh = cal.mesh.merge([strip, strip.translated([0.3, 0, 0])])
feeds = [cal.DeltaGap(line=[[x - 0.01, 0, 0], [x + 0.01, 0, 0]], name=name) for x, name in ((0, "a"), (0.3, "b"))]
antenna = cal.PECAntenna(mesh, frequency=200e6, feed=feeds)
sweep = antenna.sweep([150e6, 200e6])
sweep.write_touchstone("pair.s2p")
network = skrf.Network("pair.s2p")
assert np.allclose(network.f, sweep.frequencies) and np.allclose(network.s, sweep.s.conj())
assert (network.z[:, 0, 0].imag < -100).all() and (network.z[:, 0, 0].real > 0).all()
assert np.allclose(network.z[:, 0, 1], network.z[:, 1, 0], rtol=1e-3)
table = sweep.to_pandas()
assert {"frequency_Hz", "feed", "driven_feed", "s_real_1", "input_impedance_imag_ohm"} <= set(table)
