"""Checks of what a boundary value problem is posed with: surfaces, spaces, wavenumbers or frequencies, waves."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh import TriangleMesh, warn_wavenumber
from calderon.mesh.checks.thin_edges import thin_edges
from calderon.mesh.containment import nested_components
from calderon.mesh.errors import CoarseMeshWarning, warn_of_accuracy
from calderon.potentials.near_evaluation import point_distances
from calderon.spaces import DP1, P0, P1, P2, Space
from calderon.validation import one_of, positive_length, wavenumber_of_a_wave
from calderon.waves import ElectromagneticWave

LOST_DIGITS = 20.0
"""Rounding units over (k h)^2 h / d, h the edges and d the diameter, at which the field of a conductor by the electric
equation is wrong by 0.01 dB: measured on spheres of 180 and 730 triangles, k h from 6e-5 to 0.1."""
FEWEST = 6.0
"""Elements per wavelength below which a solution is qualitative."""
SAME_IMPEDANCE = 1e-5
"""Relative difference of impedances up to which media are the same: 376.73 ohm is that of vacuum."""
SHEET_ERROR = {"jumps": 0.4, "slopes": 0.16, "currents": 0.13, "combined currents": 0.27, "charges": 0.07}
"""Relative error of fields over the height of elements at the edge of a sheet in widths of the sheet, measured on
square plates with edges of 0.2 to 0.005 widths: of potentials that jump (rigid bodies), of slopes (soft ones), of
currents by the electric equation and with the magnetic one, of charges."""
_SPACES: dict[str, Callable[[TriangleMesh], Space]] = {"P0": P0, "DP1": DP1, "P1": P1, "P2": P2}


def space_named(name: str, choices: Iterable[str], mesh: TriangleMesh) -> Space:
    """The space of that name on the mesh."""
    return _SPACES[one_of(name, choices, "space")](mesh)


def surface_mesh(mesh: Any) -> None:
    """TypeError for anything but a triangle mesh."""
    if not isinstance(mesh, TriangleMesh):
        raise TypeError(f"a problem is posed on a TriangleMesh, got {type(mesh).__name__}: see cal.mesh")


def closed_surface(mesh: TriangleMesh, problem: str) -> None:
    """ValueError for a surface that does not separate an inside from an outside."""
    surface_mesh(mesh)
    if not mesh.is_closed:
        number = len(mesh.boundary_edges)
        raise ValueError(
            f"{problem} needs a closed surface, and {number} of {mesh.number_of_edges} edges of this mesh are open "
            "(have one triangle only): mesh.check() lists them; close the holes in the CAD model, or join vertices "
            "that should coincide with mesh.merged_vertices(tolerance)"
        )
    if walls := len(mesh.unbalanced_edges):
        raise ValueError(
            f"{problem} needs the boundary of a volume, and at {walls} of {mesh.number_of_edges} edges of this mesh "
            "a wall meets a closed surface: mesh.check() lists them as non-manifold; remove walls inside of the body, "
            "and model thin fins as closed bodies"
        )


def separate_parts(mesh: TriangleMesh, problem: str) -> None:
    """ValueError for a closed surface of which one part lies within another: what is inside of the one would be outside
    of the other."""
    nested = nested_components(mesh.vertices, mesh.triangles, mesh.components)
    if len(nested):
        raise ValueError(
            f"{problem} needs parts next to each other, and {len(nested)} of the {mesh.number_of_components} closed "
            f"parts of this mesh lie(s) within another one, the first is number {nested[0]} of mesh.components: leave "
            "inner surfaces out; a body with a cavity, or a body within a body, is not covered"
        )


def element_length(mesh: TriangleMesh) -> float:
    """The length of an element where waves are to be resolved: the mean edge, or the middle one of the three edges of a
    triangle in the mean over the area, if that is more.

    On even triangles both agree. Of a stretched one two edges are long, and the mean of all edges would count the short
    ones, which resolve nothing along the long ones; the area says how much of the surface is so.
    """
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles], 1, 0)
    lengths = np.stack([np.linalg.norm(x - y, axis=1) for x, y in ((a, b), (b, c), (c, a))], axis=1)
    return max(mesh.mean_edge_length, float(np.average(np.median(lengths, axis=1), weights=mesh.areas)))


def elements_per_wavelength(mesh: TriangleMesh, wavenumber: complex) -> float:
    """Wavelength 2 pi / |k| over the length of the elements."""
    return float(2 * np.pi / abs(wavenumber) / element_length(mesh))


def resolution(mesh: TriangleMesh, wavenumber: complex, elements: float) -> str:
    """The line of a problem's text about its wavenumber and the number of elements per wavelength."""
    return (
        f"wavenumber {wavenumber:.6g} 1/m, {elements:.1f} elements per wavelength, "
        f"k times diameter {abs(wavenumber) * mesh.diameter:.4g}"
    )


def warn_coarse(mesh: TriangleMesh, wavenumber: complex) -> None:
    """AccuracyWarning below 6 elements per wavelength, which below one doubts the unit of the mesh; a doubt about
    units where k times the size is unusual."""
    warn_wavenumber(mesh, wavenumber)
    resolved, fewest = elements_per_wavelength(mesh, wavenumber), FEWEST
    if resolved < fewest:
        finest = 2 * np.pi / abs(wavenumber) / fewest
        millimetres = "; coordinates count in metres: a mesh in mm is read with scale=1e-3" if resolved < 1 else ""
        text = (
            f"{resolved:.2g} elements per wavelength (edges of {element_length(mesh):.3g} for a wavelength of "
            f"{2 * np.pi / abs(wavenumber):.3g}): at least {fewest:.0f} are needed, 10 give about 1 %; "
            f"refine the mesh to edges of {finest:.3g}, or lower the frequency{millimetres}"
        )
        warn_of_accuracy(CoarseMeshWarning(text, resolved, fewest))


def warn_long_segments(lengths: NDArray[np.float64], wavenumber: complex) -> None:
    """AccuracyWarning for wires of segments (n,) of which fewer than 6 make a wavelength 2 pi / |k|."""
    wavelength, longest = 2 * np.pi / abs(wavenumber), float(lengths.max())
    if longest * FEWEST > wavelength:
        text = (
            f"segments of wires are up to {longest:.3g} m long, {wavelength / longest:.2g} of them for a wavelength of "
            f"{wavelength:.3g} m: at least {FEWEST:.0f} are needed, 10 give about 1 %; take more segments, or "
            "lower the frequency"
        )
        warn_of_accuracy(CoarseMeshWarning(text, wavelength / longest, FEWEST))


def warn_long_edges(mesh: TriangleMesh, wavenumber: float, allowance: float = 1.0) -> None:
    """AccuracyWarning for metal in layers with edges above an eighth of the wavelength next to it, times the allowance.
    wavenumber: the largest one there."""
    wavelength, longest = 2 * np.pi / wavenumber, float(mesh.edge_lengths.max())
    if longest > allowance * wavelength / 8:
        warn_of_accuracy(
            f"edges of up to {1e3 * longest:.3g} mm are longer than an eighth of the wavelength of "
            f"{1e3 * wavelength:.3g} mm next to the metal: use a mesh with h of at most {1e3 * wavelength / 8:.2g} mm"
        )


def warn_thin(mesh: TriangleMesh, unknown: str = "jumps") -> None:
    """AccuracyWarning for a closed body thinner than half an element at its sharp edges, where these elements cost more
    than 0.5 % of its field: the solution is that of an open sheet, singular as a root of the distance from the edge.
    unknown: a key of SHEET_ERROR."""
    if not mesh.is_closed:
        return
    accepted = 5e-3  # error of fields
    found = thin_edges(mesh, accepted / SHEET_ERROR[unknown])
    error = SHEET_ERROR[unknown] * found.unresolved
    if error < accepted:
        return
    ratio = float(2.0 ** -np.ceil(np.log2(error / accepted) - 1e-9))  # a power of two, after which it is accepted
    worst = int((found.heights / found.thickness).argmax())
    warn_of_accuracy(
        f"the body is thinner than half an element at its sharp edges: {len(found.triangles)} triangles there are up "
        f"to {found.heights.max():.3g} high, and the opposite side is {found.thickness[worst]:.3g} away. The solution "
        f"there is singular as at the edge of a sheet, and fields are wrong by about {100 * error:.2g} %; "
        f"make the elements lower at the edges: mesh.refine_edges({ratio:.2g}), or cal.mesh.cuboid(..., "
        "grading=3)"
    )


def magnetic_equation(mesh: TriangleMesh, wavenumber: float) -> None:
    """AccuracyWarning for the magnetic field equation alone; ValueError for bodies much smaller than the wavelength."""
    # on an ellipsoid its fields are wrong by 0.08 dB at this size, by 0.3 dB at 0.01 and 3 dB at 0.003
    size, least = wavenumber * mesh.diameter, 0.05
    advice = "take formulation='cfie', which holds at all frequencies"
    if size < least:
        raise ValueError(
            f"formulation='mfie' at k times diameter = {size:.2g}: below {least:g} its errors exceed the "
            f"scattered field; {advice}"
        )
    warn_of_accuracy(
        "formulation='mfie' is wrong near resonances of the inside (7 % of a sphere's field at k a = 2.74) and "
        f"inaccurate for bodies smaller than the wavelength: {advice}"
    )


def charges_resolved(
    mesh: TriangleMesh,
    wavenumber: float,
    precision: str,
    equation: str = "the electric field equation",
    otherwise: str = " or, for a closed body, formulation='cfie'",
) -> None:
    """ValueError where rounding loses the currents of the electric field equation: the terms of the charges give the
    size of the entries, and the terms of currents without charges are smaller by (k h)^2. equation, otherwise: its name
    and what else to take."""
    if precision == "double":
        return
    size, eps = wavenumber * mesh.mean_edge_length, float(np.finfo(np.float32).eps)
    least = np.sqrt(LOST_DIGITS * eps * mesh.diameter / mesh.mean_edge_length)
    if size < least:
        raise ValueError(
            f"{equation} in precision={precision!r} at k times edge length = {size:.2g}: below {least:.2g}, on this "
            f"mesh, rounding changes the field by more than 0.01 dB; take precision='double'{otherwise}"
        )


def incident_wave(wave: Any, wavenumber: complex, problem: str) -> Any:
    """The wave, with the wavenumber of the problem where it has none of its own. TypeError for anything but a wave of
    sound, ValueError for one of another wavenumber."""
    kinds = "PlaneWave, PointSource, Multipole or a sum of them"
    fits = callable(wave) and hasattr(wave, "wavenumber") and hasattr(wave, "normal_derivative")
    return _checked_wave(wave, fits, wavenumber, f"{problem}.solve needs an incident wave ({kinds})")


def electromagnetic_wave(wave: Any, wavenumber: complex, problem: str, impedance: float | None = None) -> Any:
    """The wave, as by `incident_wave`, with the impedance of the problem, if that has one, where it has none of its
    own. TypeError for anything but an electromagnetic wave, ValueError for one of another impedance."""
    kinds = "PlaneWave with polarization=, ElectricDipole or a sum"
    fits = isinstance(wave, ElectromagneticWave)
    found = _checked_wave(wave, fits, wavenumber, f"{problem}.solve needs an electromagnetic wave ({kinds})")
    if impedance is None:
        return found
    if wave.takes_impedance:
        return wave.at(wavenumber, impedance)
    if not np.isclose(complex(wave.impedance), impedance, rtol=SAME_IMPEDANCE, atol=0):
        raise ValueError(
            f"the incident wave has the impedance {wave.impedance:.9g} ohm and the problem, in {impedance:.9g} ohm, "
            "another: build both for the same medium, or the wave without impedance="
        )
    return found


def _checked_wave(wave: Any, fits: bool, wavenumber: complex, needed: str) -> Any:
    if not fits:
        several = "; for several at once use solve_all" if isinstance(wave, (list, tuple)) else ""
        raise TypeError(f"{needed}, got {type(wave).__name__}{several}")
    if wave.wavenumber is None:
        return wave.at(wavenumber)
    if not np.isclose(complex(wave.wavenumber), complex(wavenumber), rtol=1e-9, atol=0):
        raise ValueError(
            f"the incident wave has wavenumber {wave.wavenumber:.9g} and the problem {wavenumber:.9g}: "
            "build both with the same k, or the wave without one"
        )
    return wave


def reference_amplitude(field: NDArray[Any], quantity: str, figure: str) -> float:
    """|field| of an incident wave at the origin of coordinates, to which a figure is referred; ValueError where it is
    zero or infinite."""
    amplitude = float(np.linalg.norm(field))
    if not 0 < amplitude < np.inf:
        raise ValueError(
            f"the incident {quantity} at the origin of coordinates is {amplitude:g}: there is nothing to refer a "
            f"{figure} to; move the mesh so that the origin lies in the body, or use far_field"
        )
    return amplitude


def sources_on_side(wave: Any, mesh: TriangleMesh, side: str = "exterior") -> None:
    """ValueError for a point source on the surface or on its other side, whose field the fluid would never see, and
    inside for waves without a place; AccuracyWarning for one so near that its field changes within a triangle. side:
    "exterior" or "interior", that of the fluid, or "both" of an open surface."""
    for _, term in getattr(wave, "terms", ((1.0, wave),)):
        position = getattr(term, "position", None)
        if position is None:
            if side == "interior":
                raise ValueError(
                    f"a {type(term).__name__} comes from far away, and no sound comes from there into a closed "
                    "surface: inside, take a PointSource, or walls with a Velocity"
                )
            continue
        place = np.asarray(position).tolist()
        distances = point_distances(np.broadcast_to(position, (len(mesh.triangles), 3)), mesh.vertices[mesh.triangles])
        nearest = int(distances.argmin())
        distance, edge = float(distances[nearest]), float(mesh.diameters[nearest])
        if distance < 1e-6 * mesh.diameter:
            raise ValueError(f"the point source at {place} lies on triangle {nearest} of the surface: move it off")
        if side != "both" and bool(mesh.contains(position)[0]) != (side == "interior"):
            where, advice = (
                ("inside the body", "outside of") if side == "exterior" else ("outside of the surface", "inside of")
            )
            raise ValueError(
                f"the point source at {place} lies {where}: place it {advice} the mesh (bounds "
                f"{mesh.bounds.round(6).tolist()})"
            )
        if distance < 0.35 * edge:  # where integrals of its field lose accuracy
            warn_of_accuracy(
                f"the point source at {place} is {distance:.3g} from a triangle with edges of {edge:.3g}, within which "
                f"its field changes: some 1e-3 are lost at a third of an edge, 1e-2 at a tenth; refine the mesh there"
            )


def wavenumber_and_frequency(
    wavenumber: complex | None,
    frequency: float | None,
    speed: float | None,
    name: str = "speed_of_sound",
    of: str = "wavenumber",
) -> tuple[complex | float, float | None]:
    """k in 1/m and the frequency in Hz, None where no speed is known.

    speed: of the waves in m/s; name, of: of this and of the wavenumber, in errors. TypeError where neither a wavenumber
    nor a frequency with a speed is given, ValueError where they contradict each other.
    """
    name_of_k = "the wavenumber" if of == "wavenumber" else of
    if speed is not None:
        speed = positive_length(speed, name)
    if frequency is None:
        if wavenumber is None:
            speeds = f" with {name}= in m/s (air 343, water 1500)" if speed is None else ""
            raise TypeError(f"a problem needs {of}=k in 1/m, or frequency= in Hz{speeds}")
        k = wavenumber_of_a_wave(wavenumber, name_of_k)
        return k, None if speed is None else float(np.real(k)) * speed / (2 * np.pi)
    frequency = positive_length(frequency, "frequency")
    if speed is None:
        raise TypeError(f"frequency={frequency:g} Hz needs {name}= in m/s (air 343, water 1500), or give {of}=k in 1/m")
    k = 2 * np.pi * frequency / speed
    if wavenumber is not None and not np.isclose(wavenumber_of_a_wave(wavenumber, name_of_k), k, rtol=1e-9, atol=0):
        raise ValueError(
            f"{of}={wavenumber:g} 1/m, and 2 pi frequency / {name} is {k:.6g} 1/m: give one of the two; "
            "problem.at(k) is the same problem at another wavenumber"
        )
    return k, frequency


def wave_attributes(wavenumber: complex, frequency: float | None) -> dict[str, Any]:
    """Facts of a wave that labelled data state."""
    k = complex(wavenumber)
    found: dict[str, Any] = {"time_factor": "exp(-i omega t)", "wavenumber_per_m": k.real if k.imag == 0 else str(k)}
    return found if frequency is None else {**found, "frequency_Hz": frequency}


def enclosing_surfaces(meshes: Sequence[TriangleMesh], names: Sequence[str] = ()) -> NDArray[np.int64]:
    """(n,) for each closed surface the one directly around it, -1 for none. names: of the surfaces in errors.

    ValueError for surfaces that touch or cross, as far as their vertices, edge middles and centroids show it, and for
    parts of one mesh that lie one within another.
    """
    names = names or [f"mesh {number}" for number in range(len(meshes))]
    for number, mesh in enumerate(meshes):
        if len(nested_components(mesh.vertices, mesh.triangles, mesh.components)):
            raise ValueError(
                f"a closed part of {names[number]} lies within another one: give nested surfaces as separate meshes, "
                "each with the permittivity directly inside of it (1 for a cavity)"
            )
    inside = np.zeros((len(meshes), len(meshes)), dtype=bool)  # [i, j]: i within j
    trees = [scipy.spatial.KDTree(mesh.vertices[mesh.used_vertices]) for mesh in meshes]
    for i, mesh in enumerate(meshes):
        corners = mesh.vertices[mesh.used_vertices]
        probes = np.concatenate([corners, mesh.vertices[mesh.edges].mean(axis=1), mesh.centroids])
        for j, other in enumerate(meshes):
            if i == j:
                continue
            if np.any(mesh.bounds[0] > other.bounds[1]) or np.any(mesh.bounds[1] < other.bounds[0]):
                continue
            if i < j and np.min(trees[j].query(corners)[0]) < 1e-6 * mesh.mean_edge_length:
                raise ValueError(
                    f"{names[i]} and {names[j]} touch: surfaces must be apart; leave a gap between them that "
                    "is resolved by their edges, or for a common wall take one mesh around both bodies"
                )
            within = other.contains(probes)
            if within.any() and not within.all():
                raise ValueError(
                    f"{names[i]} lies partly inside {names[j]} ({np.count_nonzero(within)} of {len(within)} points): "
                    "surfaces must not cross; if it has several parts, give each as a mesh of its own"
                )
            inside[i, j] = within.all()
    depth = inside.sum(axis=1)
    return np.array([max(np.flatnonzero(row), key=lambda j: depth[j], default=-1) for row in inside], dtype=np.int64)
