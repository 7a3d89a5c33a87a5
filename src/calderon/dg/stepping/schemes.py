"""The ways to advance the fields: flux, one length of steps or several, processor or device."""

import math
from numbers import Real

from calderon.backends import Device
from calderon.dg.domain import Domain
from calderon.dg.stepping.leap_frog import CentredLeapFrog
from calderon.dg.stepping.local_leap_frog import LocalLeapFrog
from calderon.dg.stepping.on_device import DeviceLeapFrog, DeviceRungeKutta
from calderon.dg.stepping.runge_kutta import UpwindRungeKutta
from calderon.dg.stepping.system import System

FLUXES: dict[str, type[System]] = {"centred": CentredLeapFrog, "upwind": UpwindRungeKutta}
ON_DEVICES = {"centred": DeviceLeapFrog, "upwind": DeviceRungeKutta}


def check_stepping(flux: str, courant: float, local: bool, device: Device | None, backend: str) -> None:
    """ValueError for an unknown flux, an invalid fraction of the limit, and for local steps where they are not
    available."""
    if flux not in FLUXES:
        raise ValueError(f"unknown flux {flux!r}: choose {' or '.join(map(repr, FLUXES))}")
    if isinstance(courant, bool) or not (isinstance(courant, Real) and math.isfinite(courant) and 0 < courant <= 1):
        raise ValueError(f"courant={courant!r}: a fraction of the stability limit, above 0 and at most 1, is needed")
    if not isinstance(local, bool):
        raise ValueError(f"local_time_stepping={local!r}: True or False is needed")
    if local and flux != "centred":
        raise ValueError(f"local_time_stepping=True with flux={flux!r}: only flux='centred' supports it")
    if local and device is not None:
        raise ValueError(f"local_time_stepping=True on backend={backend!r}: only backend='numba' supports it")


def system_of(flux: str, domain: Domain, device: Device | None) -> System:
    """The system at rest; one with several lengths of steps if the domain has classes."""
    if device is not None:
        return ON_DEVICES[flux](domain, device)
    return LocalLeapFrog(domain) if domain.classes.deepest else FLUXES[flux](domain)


def chosen_step(courant: float, time_step: float | None, limit: float) -> float:
    """A fraction of the limit, or the requested step. ValueError for a step above the limit."""
    if time_step is None:
        return courant * limit
    if not (isinstance(time_step, Real) and 0 < time_step <= limit):
        raise ValueError(
            f"time_step={time_step!r}: a positive number is needed, up to the stability limit of this mesh and order, "
            f"{limit:.6g}: choose a smaller step, or omit it and choose courant"
        )
    return float(time_step)
