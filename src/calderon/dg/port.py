"""What driven currents do to the field and feel of it: current, voltage, power."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.dg.currents import Load
from calderon.dg.observer import State
from calderon.dg.system import System
from calderon.parallel import Communicator


class Port:
    """Current and voltage of a feed at every step of the runs so far; made by `MaxwellDG` for each driven current.

    times (t,) in s; current (t,) in A; voltage (t,) in V, the mean of -E . d times the length of the feed. Of a dipole
    m: its signal, without unit, and -m . E in W. Their product is the power fed in W in both cases.
    """

    def __init__(self, load: Load, system: System, communicator: Communicator) -> None:
        self._load, self._system, self._ranks = load, system, communicator
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
        """Take note of the voltage after a step."""
        self._times.append(time)
        self._own.append(self._system.voltage(self._load))

    def state(self) -> State:
        return {"times": self.times, "voltage": self.voltage}

    def restore(self, state: State) -> None:
        first = 1.0 if self._ranks.rank == 0 else 0.0  # the ranks' values are summed
        self._times = list(map(float, state["times"]))
        self._own = [first * float(each) for each in state["voltage"]]

    def amplitudes(self, frequency: float, count: int) -> "PortAmplitudes":
        """Discrete Fourier transform of the last `count` steps, which are whole periods."""
        turned = 2 / count * np.exp(2j * np.pi * frequency * self.times[-count:])
        return PortAmplitudes(complex(turned @ self.current[-count:]), complex(turned @ self.voltage[-count:]))

    def spectrum(self, frequency: float) -> "PortAmplitudes":
        """int exp(i w t) dt of current in A s and voltage in V s over all steps so far."""
        turned = np.gradient(self.times) * np.exp(2j * np.pi * frequency * self.times)
        return PortAmplitudes(complex(turned @ self.current), complex(turned @ self.voltage))


@dataclass(frozen=True)
class PortAmplitudes:
    """Complex amplitudes (peak values, time factor exp(-i w t)) of a feed's current in A and voltage in V; of a
    dipole's signal, without unit, and -m . E in W."""

    current: complex
    voltage: complex

    @property
    def impedance(self) -> complex:
        """Voltage over current in ohm; inductive ones have a negative imaginary part with exp(-i w t)."""
        return self.voltage / self.current

    @property
    def power(self) -> float:
        """Mean power fed over a period in W: Re(voltage conj(current)) / 2."""
        return float(np.real(self.voltage * np.conj(self.current))) / 2

    def scaled(self, factor: complex) -> "PortAmplitudes":
        """Current and voltage multiplied by a factor."""
        return PortAmplitudes(self.current * factor, self.voltage * factor)
