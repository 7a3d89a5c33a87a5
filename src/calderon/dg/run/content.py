"""How fast the fields of a run vary, by its sources and by the fields at its begin."""

import numpy as np
from numpy.typing import NDArray

from calderon.dg.domain import Domain
from calderon.dg.operator.conduction import conducting_admittance
from calderon.dg.run.observer import Span

Real = NDArray[np.floating]


def frequency_content(domain: Domain, fields: tuple[Real, ...], span: Span) -> float:
    """The highest frequency in Hz of what a run brings to its conductors: that of incident waves, and the root of the
    mean square of those of each current, at 10,000 times at most, and of given flat fields E and H; 0 without any."""
    found = [wave.frequency for wave in domain.incident.waves]
    times = span.start + span.step * np.linspace(0, span.count, min(span.count + 1, 10_000))
    for load in domain.loads:
        signal = np.array([load.at(time) for time in times.tolist()])
        power = np.trapezoid(signal**2, times)
        slopes = np.diff(signal) ** 2 / np.diff(times)
        found.append(np.sqrt(slopes.sum() / power) / (2 * np.pi) if power > 0 else 0.0)
    if fields:
        found.append(domain.medium.speed / (2 * np.pi) * _wavenumber(domain, fields))
    return float(max(found, default=0.0))


def _wavenumber(domain: Domain, fields: tuple[Real, ...]) -> float:
    """omega / c of free fields: omega^2 is the integral of |curl H|^2 / epsilon + |curl E|^2 / mu over that of epsilon
    E^2 + mu H^2, outside of good conductors, where E does not oscillate."""
    # elements outside of good conductors, some at a time
    medium, mesh = domain.medium, domain.part.mesh
    free = np.flatnonzero(conducting_admittance(medium, mesh) == medium.admittance)
    sums = np.zeros(2)
    for field, own, other in zip(
        fields, (medium.permittivity, medium.permeability), (medium.permeability, medium.permittivity), strict=True
    ):
        values = domain.element_blocks.by_element(field.reshape(domain.element_blocks.shape))
        for part in np.array_split(free, range(4096, len(free), 4096)):  # some elements at a time
            squares, curls = _squares(domain, values[part].astype(np.float64), part)
            sums += curls @ (1 / other[part]), squares @ own[part]
    curls, squares = domain.communicator.total(sums)
    return float(np.sqrt(curls / squares)) if squares > 0 else 0.0


def _squares(domain: Domain, values: NDArray[np.float64], part: NDArray[np.int64]) -> tuple[Real, Real]:
    """(elements,) integrals of the squares of a field and of its curl within each element.

    part (elements,): numbers of the elements; values (elements, 3, n): components along the three edges from the first
    vertex (covariant ones, v_i = E . e_i) at the n nodes. With G = (e_i . e_j) and J = det(e_1, e_2, e_3), E^2 = v .
    G^-1 v, and curl E has the contravariant components c / J, so that its square is c . G c / J^2.
    """
    blocks, reference = domain.element_blocks, domain.element_blocks.reference
    frames, jacobians = blocks.frames[part], np.abs(blocks.determinants[part])
    gram = frames @ np.swapaxes(frames, 1, 2)
    slopes = np.einsum("lij,nkj->nlki", reference.derivatives, values)
    curl = np.stack([slopes[:, k - 2, k - 1] - slopes[:, k - 1, k - 2] for k in range(3)], axis=1)
    raised = np.linalg.solve(gram, values)
    squares = jacobians * np.einsum("nki,ij,nkj->n", raised, reference.mass, values, optimize=True)
    curls = np.einsum("nki,ij,nkj->n", gram @ curl, reference.mass, curl, optimize=True) / jacobians
    return squares, curls
