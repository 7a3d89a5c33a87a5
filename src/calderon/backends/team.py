"""Threads that share the blocks of one kernel after another: those of time steps, which take less than a millisecond.

`threads.run_tasks` starts its threads anew at each call, and waking a sleeping thread takes 0.05 ms or more, twice for
each step. Here the other threads wait in compiled code for up to `PATIENCE` rounds before they sleep, and tasks are
distributed by atomic counters on a board in memory, without the interpreter and its lock.

The tasks of all calls are numbered consecutively. A thread owns a task once it has raised `next` from its number; a
call ends when `done` has reached `limit`. So no thread can hold a task of a call that has ended. What a task writes
does not depend on the thread, so results have the same bits on any number of threads.
"""

import os
import platform
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from calderon.backends.by_address import SIZE, call_function, write_function
from calderon.backends.numba import jitable_part, kernel, thread_count
from calderon.backends.vectors import place_of


class Places(NamedTuple):
    """Places on the board, each in a cache line of its own; the data of the function, which are the arguments of the
    call, begin behind them (`by_address.DATA`).

    next, limit, done: numbers of the next task, after the last one and of those done. stop: whether threads should end.
    failed: whether a task failed. first, begin, end, parts, function: of the call: number of its first task, range of
    its blocks, number of its parts, address of its function.
    """

    next: int
    limit: int
    done: int
    stop: int
    failed: int
    first: int
    begin: int
    end: int
    parts: int
    function: int


AT = Places(*range(0, 8 * len(Places._fields), 8))
"""The places; not an enumeration, whose members Numba 0.62 does not take as indices."""
PATIENCE = 10_000
"""Rounds without a task before a thread sleeps, of some 20 to 50 ns each."""


@intrinsic
def load(typing: Any, board: Any, place: Any) -> Any:
    """The number there, and everything that the thread which stored it had written before."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        return builder.load_atomic(place_of(context, builder, signature.args[0], *values), "acquire", 8)

    return types.intp(board, types.intp), generate


@intrinsic
def store(typing: Any, board: Any, place: Any, number: Any) -> Any:
    """Store a number after everything that this thread has written before."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        builder.store_atomic(values[2], place_of(context, builder, signature.args[0], *values[:2]), "release", 8)
        return context.get_dummy_value()

    return types.none(board, types.intp, types.intp), generate


@intrinsic
def increase(typing: Any, board: Any, place: Any) -> Any:
    """Add 1 to the number there; the number before."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        place = place_of(context, builder, signature.args[0], *values)
        return builder.atomic_rmw("add", place, ir.Constant(values[1].type, 1), "seq_cst")

    return types.intp(board, types.intp), generate


@intrinsic
def replace(typing: Any, board: Any, place: Any, old: Any, new: Any) -> Any:
    """Replace a number by another one if it still is the old one; whether it was."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        place = place_of(context, builder, signature.args[0], *values[:2])
        return builder.extract_value(builder.cmpxchg(place, values[2], values[3], "seq_cst"), 1)

    return types.boolean(board, types.intp, types.intp, types.intp), generate


@intrinsic
def pause(typing: Any) -> Any:
    """Leave the processor's units to its other thread for some cycles."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        if platform.machine() in ("x86_64", "AMD64"):  # other processors wait without
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.none(), generate


if hasattr(os, "sched_yield"):
    yield_processor: Any = types.ExternalFunction("sched_yield", types.int32())
else:
    yield_processor = pause


@jitable_part
def do_task(board):
    """Do the next task of the board (places as above); whether there was one."""
    while True:
        task = load(board, AT.next)
        if task >= load(board, AT.limit):
            return False
        if replace(board, AT.next, task, task + 1):
            break
    # its blocks
    part, parts = task - board[AT.first], board[AT.parts]
    begin, count = board[AT.begin], board[AT.end] - board[AT.begin]
    if call_function(board, AT.function, (begin + count * part // parts, begin + count * (part + 1) // parts)) != 0:
        store(board, AT.failed, 1)
    increase(board, AT.done)
    return True


@jitable_part
def await_others(board):
    """Wait until all tasks of the board are done. Numba keeps the records of the arrays, which the tasks count
    references of, only until the kernel returns, so this is part of it. A processor with too many threads is left to
    another one."""
    rounds = 0
    while load(board, AT.done) != load(board, AT.limit):
        pause()
        rounds += 1
        if rounds > PATIENCE:
            yield_processor()


@kernel
def attend(board, patience):
    """Do tasks of the board until none came for `patience` rounds."""
    idle = 0
    while idle < patience and load(board, AT.stop) == 0:
        if do_task(board):
            idle = 0
        else:
            pause()
            idle += 1


def team_kernel(function: Callable[..., None]) -> Callable[..., None]:
    """Compile function(*arguments, begin, end), which works on some blocks, for `Team.run`.

    What `function` may close over: see `numba.kernel`.
    """
    part = jitable_part(function)

    @kernel
    def lead(board, begin, end, parts, *arguments):
        """Call part(begin, end, *arguments) for the blocks begin to end in so many parts, as tasks of the board, and
        wait for all of them."""
        write_function(part, arguments, (begin, end), board, AT.function)
        board[AT.first], board[AT.parts] = board[AT.limit], parts
        board[AT.begin], board[AT.end] = begin, end
        store(board, AT.limit, board[AT.limit] + parts)
        while do_task(board):
            pass
        await_others(board)

    return lead


class Team:
    """All threads that kernels use, the caller's among them; the others start at the first call that needs them and end
    with this object. number: of all. One thread at a time may call `run`."""

    def __init__(self) -> None:
        self.number = thread_count()
        self._board = np.zeros(SIZE, np.int64)
        self._sleep = _Sleep()
        self._process = 0

    def run(self, kernel: Callable[..., None], blocks: tuple[int, int], parts: int, *arguments: Any) -> None:
        """Call a `team_kernel` for all blocks from blocks[0] to before blocks[1], in so many parts.

        Raises MemoryError if a part failed; kernels fail for no other reason.
        """
        if blocks[0] >= blocks[1]:
            return
        if min(self.number, parts) > 1:
            if self._process != os.getpid():  # threads do not survive in a forked process
                self._start()
            self._sleep.wake(self._board)
        try:
            kernel(self._board, *blocks, parts, *arguments)
        finally:
            self._sleep.awaited = None
        if self._board[AT.failed]:
            self._board[AT.failed] = 0
            raise MemoryError("no memory is left for the intermediate results of a time step")

    def _start(self) -> None:
        self._process, self._sleep = os.getpid(), _Sleep()
        attend(self._board, 0)  # compiled before threads need it
        for _ in range(self.number - 1):
            threading.Thread(target=_serve, args=(self._board, self._sleep), name="calderon-step", daemon=True).start()
        weakref.finalize(self, _stop, self._board, self._sleep)


class _Sleep:
    """Where threads without tasks sleep. awaited: the board's limit when they were woken, or None between calls: until
    the caller has raised it, which may be preempted before, no thread sleeps."""

    def __init__(self) -> None:
        self.awaited: int | None = None
        self._sleepers, self._lock, self._signal = 0, threading.Lock(), threading.Semaphore(0)

    def wait(self, board: NDArray[np.int64]) -> None:
        """Sleep until the next `wake`, unless there are tasks or they are about to come."""
        with self._lock:
            if board[AT.stop] or board[AT.limit] == self.awaited or board[AT.next] < board[AT.limit]:
                return
            self._sleepers += 1
        self._signal.acquire()

    def wake(self, board: NDArray[np.int64]) -> None:
        """Wake all sleepers."""
        with self._lock:
            self.awaited = int(board[AT.limit])
            count, self._sleepers = self._sleepers, 0
        if count:
            self._signal.release(count)


def _serve(board: NDArray[np.int64], sleep: _Sleep) -> None:
    while not board[AT.stop]:
        attend(board, PATIENCE)
        sleep.wait(board)


def _stop(board: NDArray[np.int64], sleep: _Sleep) -> None:
    board[AT.stop] = 1
    sleep.wake(board)
