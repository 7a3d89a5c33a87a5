"""Radar cross-section of an aircraft at 100 MHz, four wavelengths long, with ten elements per wavelength.

Fuselage, wings and tail are united by gmsh, whose mesh is taken as it is in memory. The combined-field equation is
solved once for all directions of the radar. There is no exact result, so that the solution is held against itself: the
field that it leaves inside of the fuselage, which is 0, the same echo from the left and from the right, although the
mesh has no symmetry, and the same scattering when transmitter and receiver change places.
"""

import sys
from pathlib import Path

import gmsh
import numpy as np

import calderon as cal

FREQUENCY = 100e6
LENGTH, RADIUS, SPAN = 12.0, 0.75, 11.0
INSIDE = np.array([[-3.0, 0.0, 0.0], [0.0, 0.1, 0.2], [2.5, 0.0, -0.1]])


def foil(chords: tuple[float, float], sweep: float, span: float, thickness: float) -> int:
    """A tapered wing along y from the origin, with a leading edge that is swept back (toward -x)."""
    wires = []
    for (chord, y), height in zip(zip(chords, (0.0, span), strict=True), (thickness, 0.6 * thickness), strict=True):
        front = -sweep * y / span
        outline = [(front, 0.0), (front - 0.3 * chord, 0.5), (front - chord, 0.1), (front - chord, -0.1)]
        outline.append((front - 0.3 * chord, -0.5))
        points = [gmsh.model.occ.addPoint(x, y, height * z) for x, z in outline]
        lines = [gmsh.model.occ.addLine(a, b) for a, b in zip(points, points[1:] + points[:1], strict=True)]
        wires.append(gmsh.model.occ.addWire(lines))
    (body,) = gmsh.model.occ.addThruSections(wires, makeSolid=True, makeRuled=True)[:1]
    return int(body[1])


def aircraft(h: float) -> cal.TriangleMesh:
    """Nose toward +x, wings along y; edges of about h."""
    gmsh.initialize()
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        occ = gmsh.model.occ
        fuselage = occ.addSphere(0, 0, 0, 1)
        occ.dilate([(3, fuselage)], 0, 0, 0, LENGTH / 2, RADIUS, RADIUS)
        parts = []
        for chords, sweep, span, thickness, place, turns in (
            ((2.4, 1.0), 1.8, SPAN / 2, 0.4, (1.5, -0.1), (0.0, np.pi)),
            ((1.4, 0.7), 0.9, 2.2, 0.3, (-4.0, 0.1), (0.0, np.pi)),
            ((1.7, 0.8), 1.1, 2.1, 0.3, (-3.8, 0.0), (np.pi / 2,)),
        ):
            for turn in turns:
                part = foil(chords, sweep, span, thickness)
                occ.rotate([(3, part)], 0, 0, 0, 1, 0, 0, turn)
                occ.translate([(3, part)], place[0], 0, place[1])
                parts.append((3, part))
        occ.fuse([(3, fuselage)], parts)
        occ.synchronize()
        gmsh.option.setNumber("Mesh.MeshSizeMax", h)
        gmsh.option.setNumber("Mesh.MeshSizeMin", 0.4 * h)
        gmsh.model.mesh.generate(2)
        return cal.TriangleMesh.from_gmsh()
    finally:
        gmsh.finalize()


def main(folder: Path, h: float = 0.34) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mesh = aircraft(h)
    problem = cal.PECScattering(mesh, frequency=FREQUENCY)
    print(mesh, f"{problem.elements_per_wavelength:.1f} elements per wavelength")
    assert mesh.is_closed and problem.elements_per_wavelength > 9

    eta = cal.exact.VACUUM_IMPEDANCE  # for currents in A/m
    wave = cal.PlaneWave([-1, 0, 0], polarization=[0, 1, 0], impedance=eta)  # onto the nose
    solution = problem.solve(wave, solver="lu")
    left = np.linalg.norm(solution.electric(INSIDE), axis=1).max()
    print(solution.info, f"field left inside: {left:.1e} of the wave", sep="\n")
    assert left < 0.03

    azimuth = np.radians(np.arange(0, 361, 2.0))
    cuts = {pair: 10 * np.log10(problem.monostatic_rcs(np.pi / 2, azimuth, pair, solver="lu")) for pair in ("VV", "HH")}
    for pair, levels in cuts.items():
        strong = levels > levels.max() - 25
        unlike = np.abs(levels - levels[::-1])[strong].max()
        print(f"{pair}: {levels[0]:.1f} dB re 1 m2 at the nose, largest {levels.max():.1f}; sides {unlike:.2f} dB")
        assert unlike < 0.5
    there, back = (np.pi / 2, 0.3), (1.2, 2.0)
    bistatic = [
        problem.solve(cal.PlaneWave(-toward(*sender), polarization=along_phi(sender[1])), solver="lu")
        for sender in (there, back)
    ]
    echoes = [
        np.dot(one.far_field(*receiver), along_phi(receiver[1]))
        for one, receiver in zip(bistatic, (back, there), strict=True)
    ]
    print(f"places changed: {abs(echoes[0] - echoes[1]) / abs(echoes[0]):.1e}")
    assert abs(echoes[0] - echoes[1]) < 0.02 * abs(echoes[0])
    cal.plots.currents(solution.surface, folder / "aircraft.png")
    cal.plots.polar(azimuth, cuts, "dB re 1 m²", folder / "rcs.png", quantity="monostatic radar cross-section")


def toward(theta: float, phi: float) -> np.ndarray:
    return np.array([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])


def along_phi(phi: float) -> np.ndarray:
    return np.array([-np.sin(phi), np.cos(phi), 0.0])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
