"""Signals that ask a program to end: SIGINT (Ctrl-C), SIGTERM (batch systems, kill), SIGHUP (the terminal is closed).

Python runs a handler between two instructions of the main thread, so not before a compiled function returns. The number
of each signal therefore also goes through a socket to a thread, which ends the process when a second signal comes.
A signal that the process was started to ignore (SIGHUP under nohup) stays ignored.
"""

import os
import signal
import socket
import sys
import threading
import time
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

STOPS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Windows has no SIGHUP."""
ECHO = 0.5
"""Seconds in which a further signal counts as the same one: `timeout` signals a process and then its group."""


class Stopped(KeyboardInterrupt):
    """A signal asked the program to end. number: of the signal; code: the exit status that says so."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number, self.code = number, 128 + number


class Stops:
    """Handler of the three signals: the first one raises Stopped. asked: its number, 0 before."""

    def __init__(self) -> None:
        self.asked, self._raised = 0, False
        self.sender, self._receiver = socket.socketpair()
        self.sender.setblocking(False)
        self._hook = sys.unraisablehook

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.asked = self.asked or number
        if not self._raised:
            self._raised = True
            raise Stopped(self.asked)

    def end(self) -> int:
        """Raise no more, since the program ends with a message; returns the number of the signal that asked, or 0."""
        self._raised = True
        return self.asked

    def lost(self, unraisable: Any) -> None:
        """Have raised again what Python could not pass on, since the handler ran in a destructor or a callback."""
        if isinstance(unraisable.exc_value, Stopped):
            self._raised = False
            self.sender.send(bytes([0]))  # no number of a signal
        else:
            self._hook(unraisable)

    def watch(self) -> None:
        """End the process at the second signal, whatever the main thread does, until the sender is closed."""
        first, own = 0.0, 0
        while received := self._receiver.recv(1):
            number = received[0]
            if number == 0:
                time.sleep(ECHO / 50)  # the callback ends
                if not self._raised:
                    own += 1
                    interrupt_main(signal.Signals(self.asked))
            elif number in STOPS and own:
                own -= 1
            elif number in STOPS and not first:
                first = time.monotonic()
            elif number in STOPS and time.monotonic() - first > ECHO:
                with suppress(OSError):
                    os.write(2, b"ended at once by a second signal\n")
                os._exit(128 + number)
        self._receiver.close()


def _handled(number: int) -> bool:
    """Whether a signal has an effect that Python knows of."""
    return signal.getsignal(number) not in (signal.SIG_IGN, None)


def stop_asked() -> int:
    """Number of the signal that asked the program to end, 0 before. An error of any kind may follow from it: compilers
    fail in their own way where a callback of theirs was stopped."""
    handlers = [signal.getsignal(number) for number in STOPS]
    stopping = [handler for handler in handlers if isinstance(handler, Stops)]
    return stopping[0].asked if stopping else 0


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def stops_raise() -> Iterator[Stops]:
    """In this block of a program, the first of the three signals raises Stopped; a later one ends the process at once,
    with its exit status, in the middle of compiled code, too. Does nothing outside of the main thread."""
    stops = Stops()
    if not _is_main():
        yield stops
        return
    previous = {number: signal.getsignal(number) for number in STOPS if _handled(number)}
    watcher = threading.Thread(target=stops.watch, name="calderon-signals", daemon=True)
    watcher.start()
    wakeup = signal.set_wakeup_fd(stops.sender.fileno(), warn_on_full_buffer=False)
    hook, sys.unraisablehook = sys.unraisablehook, stops.lost
    for number in previous:
        signal.signal(number, stops)
    try:
        yield stops
    finally:
        stops.end()
        for number, handler in previous.items():
            signal.signal(number, handler)
        sys.unraisablehook = hook
        signal.set_wakeup_fd(wakeup)
        stops.sender.close()
        watcher.join()


class Postponed:
    """Signals that wait. asked: the number of the first one, 0 if there is none."""

    def __init__(self) -> None:
        self.asked, self._since = 0, 0.0
        self._effects: dict[int, Any] = {}

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if not self.asked:
            self.asked, self._since = number, now
        elif now - self._since > ECHO:
            self.take_effect(number)

    def begin(self) -> None:
        """Let signals wait from now on; does nothing outside of the main thread, which no signal reaches."""
        if _is_main() and not self._effects:
            self._effects = {number: signal.getsignal(number) for number in STOPS if _handled(number)}
            for number in self._effects:
                signal.signal(number, self)

    def take_effect(self, number: int) -> None:
        """Have a signal do what it does outside of the block: most often it raises KeyboardInterrupt, or ends the
        process."""
        self.asked = 0
        effect = self._effects.get(number, signal.SIG_DFL)
        if callable(effect):
            effect(number, None)
        else:
            signal.signal(number, effect)
            os.kill(os.getpid(), number)

    def end(self) -> None:
        for number, effect in self._effects.items():
            signal.signal(number, effect)
        if self.asked:
            self.take_effect(self.asked)


@contextmanager
def postponed() -> Iterator[Postponed]:
    """From `begin` on, the three signals wait until the block calls `take_effect` or ends; a second one has its effect
    at once."""
    kept = Postponed()
    try:
        yield kept
    finally:
        kept.end()
