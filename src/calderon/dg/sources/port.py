"""Ports of driven currents: current, voltage, power."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.dg.sources.currents import Load
from calderon.parallel import Communicator
from calderon.validation import finite_complex, positive_length, real_number, whole_number


class Port:
    """Current and voltage of a feed at every step of the runs so far; made by `MaxwellDG` for each driven current.

    times (t,) in s; current (t,) in A; voltage (t,) in V, the mean of -E . d times the length of the feed. Of a dipole
    m: its signal, without unit, and -m . E in W. Their product is the power fed in W in both cases.
    """

    grows = True

    def __init__(self, load: Load, voltage: Callable[[Load], float], communicator: Communicator) -> None:
        self._load, self._voltage, self._ranks = load, voltage, communicator
        self._times: list[float] = []
        self._own: list[float] = []

    @property
    def times(self) -> NDArray[np.float64]:
        return np.array(self._times)

    @property
    def current(self) -> NDArray[np.float64]:
        return np.array([self._load.at(time) for time in self._times])

    @property
    def voltage(self) -> NDArray[np.float64]:
        return np.asarray(self._ranks.total(np.array(self._own)))

    @property
    def power(self) -> NDArray[np.float64]:
        """(t,) fed at each time in W."""
        return self.current * self.voltage

    @property
    def label(self) -> str:
        return f"port {self._load.name!r}"

    def record(self, time: float) -> None:
        """Record the voltage after a step."""
        self._times.append(time)
        self._own.append(self._voltage(self._load))

    def state(self) -> dict[str, NDArray[np.float64]]:
        return {"times": self.times, "voltage": self.voltage}

    def restore(self, state: dict[str, NDArray[np.float64]]) -> None:
        first = 1.0 if self._ranks.rank == 0 else 0.0  # the ranks' values are summed
        self._times = list(map(float, state["times"]))
        self._own = [first * float(each) for each in state["voltage"]]

    def amplitudes(self, frequency: float, count: int) -> "PortAmplitudes":
        """Discrete Fourier transform of the last `count` steps, which are whole periods."""
        frequency, count = positive_length(frequency, "frequency"), whole_number(count, "count")
        factors = 2 / count * np.exp(2j * np.pi * frequency * self.times[-count:])
        return PortAmplitudes(complex(factors @ self.current[-count:]), complex(factors @ self.voltage[-count:]))

    def spectrum(self, frequency: float) -> "PortAmplitudes":
        """int exp(i w t) dt of current in A s and voltage in V s over all steps so far."""
        frequency = real_number(frequency, "frequency")
        if len(self._times) < 2:
            return PortAmplitudes(0j, 0j)
        factors = np.gradient(self.times) * np.exp(2j * np.pi * frequency * self.times)
        return PortAmplitudes(complex(factors @ self.current), complex(factors @ self.voltage))

    def driven(self, frequency: float) -> complex:
        """The spectrum of the current in A s. ValueError where it is below 1e-9 of the pulse, as rounding is, so that
        fields for 1 A would be noise."""
        found, scale = self.spectrum(frequency).current, 0.0
        if len(self._times) > 1:
            scale = float(np.abs(np.gradient(self.times)) @ np.abs(self.current))
        if abs(found) <= 1e-9 * scale:
            raise ValueError(
                f"the current of {self._load.name!r} is almost zero at {frequency:.6g} Hz ({abs(found):.1e} A s): "
                "use a shorter pulse, one with a carrier near that frequency, or per=1.0"
            )
        return found


def divisor(ports: Mapping[str, Port], per: complex | str | None, frequency: float) -> complex:
    """The divisor of spectra: a number, or the spectrum of the current of a port, by default of the only port.
    ValueError for an unknown port, or zero."""
    if per is None:
        per = next(iter(ports)) if len(ports) == 1 else 1.0
    if isinstance(per, str):
        if per not in ports:
            raise ValueError(f"per={per!r}: unknown port, choose {', '.join(map(repr, ports)) or 'a number'}")
        return ports[per].driven(frequency)
    number = finite_complex(per, "per, a number or the name of a port,")
    if number == 0:
        raise ValueError(f"per={per!r}: a number other than zero, or the name of a port, is needed")
    return number


@dataclass(frozen=True)
class PortAmplitudes:
    """Complex amplitudes (peak values, time factor exp(-i w t)) of a feed's current in A and voltage in V; of a
    dipole's signal, without unit, and -m . E in W."""

    current: complex
    voltage: complex

    @property
    def impedance(self) -> complex:
        """Voltage over current in ohm; inductive ones have a negative imaginary part with exp(-i w t). ValueError
        without a current."""
        if self.current == 0:
            raise ValueError("no current of this frequency flows through the port: its impedance is unknown")
        return self.voltage / self.current

    @property
    def power(self) -> float:
        """Mean power fed over a period in W: Re(voltage conj(current)) / 2."""
        return float(np.real(self.voltage * np.conj(self.current))) / 2

    def scaled(self, factor: complex) -> "PortAmplitudes":
        """Current and voltage multiplied by a factor."""
        factor = finite_complex(factor, "the factor of amplitudes")
        return PortAmplitudes(self.current * factor, self.voltage * factor)
