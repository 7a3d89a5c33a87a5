"""A fed antenna: one frequency of a case."""

import numpy as np

from calderon.case import Case, antenna
from calderon.mesh import TriangleMesh
from calderon.report.results import FarFields, Moment, Step, decibels_of_power
from calderon.report.stages import Stages
from calderon.report.surface.plane import field_in_plane
from calderon.report.surface.radar import components
from calderon.report.surface.solving import announcement, options, record


def solve_antenna(case: Case, mesh: TriangleMesh, moment: Moment, stages: Stages) -> Step:
    """Solve at one wavenumber for the voltage of the feed and evaluate; the field in a plane only at the last."""
    posed, output = antenna(case, mesh, moment.wavenumber), case.output
    assert case.physics.feed is not None
    with stages.stage("assemble and solve", announcement(case, posed.unknowns, moment.at)):
        solution = posed.solve(case.physics.feed.voltage, **options(case))
    far: FarFields = {}
    gain, cut = None, None
    if output.far_field is not None:
        asked = output.far_field
        with stages.stage("far field", moment.at):
            far = components(solution.far_field(asked.directions), asked)
            gain = decibels_of_power(solution.gain(*asked.theta_phi, asked.polarization))
    if output.slice is not None and moment.last:
        with stages.stage("field in a plane", moment.at):
            cut = field_in_plane(case, mesh, lambda points: np.linalg.norm(solution.electric(points), axis=1))
    return Step(
        wavenumber=moment.wavenumber,
        frequency=moment.frequency,
        surface=solution.surface,
        elements_per_wavelength=float(posed.conductor.elements_per_wavelength),
        far_field=far,
        strength=gain,
        slice=cut,
        impedance=solution.input_impedance,
        **record(solution.info),
    )
