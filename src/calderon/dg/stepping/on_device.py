"""Time stepping on a device (curl.c, upwind.c): the fields stay there while time advances."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Source, real_name, require_device_memory
from calderon.dg.domain import Domain
from calderon.dg.operator.halo import DeviceHalo
from calderon.dg.sources.currents import Load
from calderon.dg.stepping.leap_frog import CentredLeapFrog, Coefficients
from calderon.dg.stepping.runge_kutta import STAGES, UpwindRungeKutta
from calderon.dg.stepping.system import Steps, System


class Sizes(NamedTuple):
    """Sizes of launches.

    group: threads of a group where each works alone. highest_order: the largest one for which the shared data of a
    group for a block of elements fit into its memory, the bytes that a group may share on every device. largest_group:
    threads of a group for a block, at most. checks: the largest number of groups that look for values that are not
    finite.
    """

    group: int = 128
    highest_order: int = 5
    memory: int = 48 * 1024
    largest_group: int = 640
    checks: int = 256


SIZES = Sizes()
LAST = STAGES[-1][:2]
"""Coefficients of the last stage of a step, whose residuals no code reads."""


class OnDevice(System):
    """A system whose fields E and H, and all tables of a step, are on a device while time advances, for both fluxes;
    the stability limit is computed on the processor.

    source: the file with the kernels of a step. copies: number of arrays on the device that are as large as a field.

    Raises ValueError for a degree or a number of elements that devices do not support, MemoryError for fields that do
    not fit.
    """

    source: str
    copies: int

    def __init__(self, domain: Domain, device: Device) -> None:
        super().__init__(domain)
        reference, lanes = self.element_blocks.reference, self.element_blocks.lanes
        if reference.order > SIZES.highest_order:
            highest = f"choose 1 to {SIZES.highest_order}, or backend='numba'"
            raise ValueError(f"order={reference.order!r} on {device.name}: {highest}")
        largest = np.iinfo(np.int32).max
        if self.electric.size > largest:
            raise ValueError(f"{self.electric.size} values of a field on {device.name}: at most {largest} are possible")
        # memory, kernels, and the tables of both fluxes
        needed = self.copies * self.electric.nbytes + self._tables_nbytes
        advice = "use a lower order, a coarser mesh, precision='single' or backend='numba'"
        count = self.element_blocks.mesh.number_of_tetrahedra
        require_device_memory(device, needed, f"P{reference.order} on {count} tetrahedra", advice)
        self._device, self._rows = device, max(1, min(-(-reference.size // 2), SIZES.largest_group // lanes))
        self._program, self._between = (
            device.build(Source(path, real_name(self.element_blocks.real), self._defines))
            for path in (self.source, "dg/stepping/fields.c")
        )
        self._found = device.empty((SIZES.checks,), np.int32)
        self._codes, self._nodes = device.array(self.codes), device.array(self.nodes.astype(np.int32))
        self._metric, self._mirrors = device.array(self.metric), [device.array(each) for each in self.factors]
        self._ghost_rows, self._ghosts = device.array(self.rows), [device.array(each) for each in self.ghosts]
        self._fields: list[Any] = []
        self._places: dict[int, tuple[NDArray[np.int64], Any, Any]] = {}
        halo = domain.halo
        self._halo = None if halo is None else DeviceHalo(halo, device, self._traces)

    @property
    def _tables_nbytes(self) -> int:
        """Bytes of the tables on the device, with two numbers of each element and field, without those of open faces
        and loads."""
        tables = self.codes, self.metric, self.rows, *self.factors, *self.ghosts
        blocks = self.element_blocks
        return sum(each.nbytes for each in tables) + 4 * blocks.blocks * blocks.lanes * self.electric.itemsize

    @property
    def _defines(self) -> tuple[tuple[str, int], ...]:
        """Arguments of curl.h."""
        reference, lanes = self.element_blocks.reference, self.element_blocks.lanes
        layout = ("SIZE", reference.size), ("FACE_SIZE", reference.face_size), ("LANES", lanes)
        return (*layout, ("ROWS", self._rows))

    def _packed(self, volume: NDArray[np.floating], lift: NDArray[np.floating]) -> list[Any]:
        """Tables of `row_pair` as curl.h has them, on the device: (n, n, 4) derivatives by axis, and (n, m, 4) the lift
        by face."""
        n, m = self.element_blocks.reference.size, self.element_blocks.reference.face_size
        rows, faces = volume.reshape(-1, n, 3)[:n], lift.reshape(4, -1, m)[:, :n].transpose(1, 2, 0)
        derivatives = np.concatenate([rows, np.zeros((n, n, 1), rows.dtype)], axis=2)
        return [self._device.array(each) for each in (derivatives, np.ascontiguousarray(faces))]

    def advance(self, steps: Steps) -> None:
        """Send both fields, do the steps there, and fetch the fields, which are freed on the device at any exit."""
        self._fields = [self._device.array(field) for field in (self.electric, self.magnetic)]
        try:
            self._advance_on_device(steps)
            self.fetch()
        finally:
            self._fields = []

    def _advance_on_device(self, steps: Steps) -> None:
        """Do the steps of the fields on the device."""
        raise NotImplementedError

    def fetch(self) -> None:
        if self._fields:
            self.electric[:], self.magnetic[:] = (self._device.to_host(field).ravel() for field in self._fields)

    def finite(self) -> bool:
        """Whether all values of E and of H on this rank are finite; one number of each group is copied to the host."""
        if not self._fields:
            return super().finite()
        threads = SIZES.group * SIZES.checks
        for field in self._fields:
            self._launch(self._between, "not_finite", threads, field, self.electric.size, threads, self._found)
            if self._device.to_host(self._found).any():
                return False
        return True

    def voltage(self, load: Load) -> float:
        return load.voltage(self.values_at(load.places)) if self._fields else super().voltage(load)

    def views(self) -> tuple[Any, Any]:
        return (View(self, 0), View(self, 1)) if self._fields else super().views()

    def values_at(self, places: NDArray[np.int64], which: int = 0) -> NDArray[np.floating]:
        """E (0) or H (1) on the device at flat numbers in a field, of any shape, which are kept there."""
        if id(places) not in self._places:
            numbers = self._device.array(places.ravel().astype(np.int32))
            room = self._device.empty((places.size,), self.element_blocks.real)
            self._places[id(places)] = places, numbers, room  # keep the array itself, so that its id is not reused
        _, numbers, room = self._places[id(places)]
        self._launch(self._between, "values_at", places.size, self._fields[which], numbers, room, places.size)
        return self._device.to_host(room).reshape(places.shape)

    def _driven(self, load: Load, drive: NDArray[np.floating]) -> tuple[Any, Any]:
        """The places of a load in the field, and the change of E there in a step for a unit of its signal, both
        sent."""
        return self._device.array(load.places.ravel().astype(np.int32)), self._device.array(drive.ravel())

    def _add(self, field: Any, driven: tuple[Any, Any], factor: float, count: int) -> None:
        """field += factor times `count` values that a load adds."""
        self._launch(self._between, "add_load", count, field, *driven, self.real(factor), count)

    def _launch(self, program: Any, kernel: str, threads: int, *arguments: Any) -> None:
        """A kernel in which each thread works alone."""
        self._device.launch(program, kernel, (threads,), (SIZES.group,), *arguments)

    def _by_block(self, kernel: str, drivers: dict[int, Any], *arguments: Any) -> None:
        """A kernel with a group of threads for each block of elements; the others' traces of the drivers, E (0), H
        (1) or both, are exchanged while inner blocks are computed."""
        if self._halo is None:
            self._on_blocks(kernel, (0, self.element_blocks.blocks), *arguments)
            return
        self._halo.begin(drivers)
        self._on_blocks(kernel, self.inner_blocks, *arguments)
        first = self.open.number * 2 * self.element_blocks.reference.face_size
        self._halo.finish(drivers, self._ghosts, first)
        self._on_blocks(kernel, self.outer_blocks, *arguments)

    def _on_blocks(self, kernel: str, blocks: tuple[int, int], *arguments: Any) -> None:
        """A kernel for the blocks blocks[0] up to, without, blocks[1] of elements, a group of threads each."""
        group = self.element_blocks.lanes * self._rows
        threads = (blocks[1] - blocks[0]) * group
        self._device.launch(self._program, kernel, (threads,), (group,), blocks[0], *arguments)

    def _traces(self, field: Any, starts: Any, sides: Any, count: int, out: Any) -> None:
        """out (count, 2, m): traces of a field on `count` faces of elements that begin at `starts`."""
        threads = count * self.element_blocks.reference.face_size
        self._launch(self._between, "face_traces", threads, field, starts, sides, self._nodes, count, out)

    def _in_parts(self, values: NDArray[np.complex128]) -> Any:
        """(waves, 2, ...) real and imaginary parts of amplitudes (waves, ...), on the device; memory for one if there
        is none."""
        parts = np.stack([values.real, values.imag], axis=1) if len(values) else np.zeros(1)
        return self._device.array(parts.astype(self.element_blocks.real))

    def _phases(self, time: float) -> Any:
        """(waves, 2) factors of the incident amplitudes, as `_in_parts`."""
        return self._in_parts(self.domain.incident.phases(time))


class View:
    """A field on a device, of which `[places]` copies only the values at flat numbers to the host."""

    def __init__(self, system: OnDevice, which: int) -> None:
        self._system, self._which = system, which

    def __getitem__(self, places: NDArray[np.int64]) -> NDArray[np.floating]:
        return self._system.values_at(places, self._which)


@dataclass(frozen=True)
class Step:
    """Arguments on the device of a step of one field, E or H, as `Coefficients` has them.

    medium (blocks, 2, lanes): factor of the field, and gain of the curl. turn, raised: of the open faces
    (`SilverMueller`); groups: elements with the same number of open faces, as (that number, how many elements, numbers
    of their faces, inverse matrices). drives: of each load the places in E and the change there; empty for H.
    """

    medium: Any
    turn: Any = None
    raised: Any = None
    groups: tuple[tuple[int, int, Any, Any], ...] = ()
    drives: tuple[tuple[Any, Any], ...] = ()


@dataclass(frozen=True)
class OpenFaces:
    """The open faces on the device. starts: where their elements begin in a field; sides: which face of the element
    each is; entering: amplitudes of incident waves for E and for H; before, ghosts, solved: memory for traces before a
    step, for ghost traces, and for solved ones."""

    starts: Any
    sides: Any
    entering: list[Any]
    before: Any
    ghosts: Any
    solved: Any


class DeviceLeapFrog(OnDevice, CentredLeapFrog):
    """CentredLeapFrog with the steps on a device."""

    source, copies = "dg/operator/curl.c", 2

    def __init__(self, domain: Domain, device: Device) -> None:
        super().__init__(domain, device)
        self._matrices = self._packed(self.volume, self.lift)
        starts, sides = (device.array(each.astype(np.int32)) for each in (self.open.starts, self.open.sides))
        room = (max(1, 2 * self.open.number * self.ghosts[0].shape[2]),)
        empty = [device.empty(room, self.element_blocks.real) for _ in range(3)]
        self._open = OpenFaces(starts, sides, [self._in_parts(each) for each in self.entering], *empty)

    def _step(self, of: Coefficients) -> Step:
        """Coefficients of a step on the device."""
        array, real = self._device.array, self.element_blocks.real
        drives = tuple(self._driven(load, drive) for load, drive in zip(self.loads, of.drives, strict=False))
        if of.absorbing is None:
            return Step(array(of.medium), drives=drives)
        groups = tuple(
            (faces.shape[1], len(faces), array(faces.astype(np.int32)), array(inverse.astype(real)))
            for faces, inverse in of.absorbing.groups
        )
        turn, raised = of.absorbing.turn.astype(real), of.absorbing.raised.astype(real)
        return Step(array(of.medium), array(turn), array(raised), groups, drives)

    def _advance_on_device(self, steps: Steps) -> None:
        coefficients = tuple(self._step(each) for each in self._all_coefficients(steps.step))
        self._leap(steps, coefficients, self._half_step)

    def _half_step(self, field: int, step: Step, time: float) -> None:
        """Advance E (field 0) or H (1) by one leap-frog step, driven by the curl of the other field, in place.

        Blocks first (keep * field + gain * curl), then the currents of loads, then the open faces, which need their
        traces before the step. time: c t in m at the middle of the step.
        """
        target, source, faces = self._fields[field], self._fields[1 - field], self._open
        if self.open.number:
            self._traces(target, faces.starts, faces.sides, self.open.number, faces.before)
        self._by_block(
            "half_step", {1 - field: source}, target, source, self._ghost_rows, self._mirrors[1 - field],
            self._ghosts[1 - field], self._codes, self._nodes, self._metric, step.medium, *self._matrices,
        )  # fmt: skip
        for load, driven in zip(self.loads, step.drives, strict=False):  # H has no drives
            self._add(target, driven, load.at(time / self.medium.speed), load.places.size)
        if self.open.number:
            self._absorb(field, step, time)

    def _absorb(self, field: int, step: Step, time: float) -> None:
        """Add to the field, after its step, the contribution of the open faces (`SilverMueller.finish`); time as in
        `_half_step`."""
        target, faces, reference = self._fields[field], self._open, self.element_blocks.reference
        places = faces.starts, faces.sides
        self._launch(
            self._program, "open_ghosts", self.open.number * reference.face_size, target, faces.before,
            faces.entering[field], self._phases(time), len(self.domain.incident.waves), step.turn, *places,
            self._nodes, self.open.number, faces.ghosts,
        )  # fmt: skip
        # elements with the same number of open faces: ghost traces with the new own field, and their lift
        for count, elements, numbers, inverse in step.groups:
            threads = 2 * elements * count * reference.face_size
            self._launch(
                self._program, "solve_open", threads, faces.ghosts, inverse, numbers, count, elements, faces.solved
            )
            self._launch(
                self._program, "add_open", elements * reference.size, target, faces.solved, step.raised,
                self._matrices[1], numbers, *places, count, elements,
            )  # fmt: skip


class DeviceRungeKutta(OnDevice, UpwindRungeKutta):
    """UpwindRungeKutta with the stages on a device."""

    source, copies = "dg/operator/upwind.c", 6

    def __init__(self, domain: Domain, device: Device) -> None:
        super().__init__(domain, device)
        self._tables = [device.array(self._riemann), *self._packed(self.volume, self.lift)]
        self._entering = [self._in_parts(each) for each in self.entering]

    @property
    def _tables_nbytes(self) -> int:
        return super()._tables_nbytes + self._riemann.nbytes

    @property
    def _defines(self) -> tuple[tuple[str, int], ...]:
        reference, lanes = self.element_blocks.reference, self.element_blocks.lanes
        shared = (3 * reference.size + 16 * reference.face_size) * lanes * self.element_blocks.real.itemsize
        return (*super()._defines, ("OWN_IS_SHARED", int(shared <= SIZES.memory)))

    def _advance_on_device(self, steps: Steps) -> None:
        """Do the steps by stages of both fields, which alternate between two places."""
        step = steps.step
        # room for the new fields and the residuals, and coefficients of the step
        array, empty = self._device.array, np.zeros_like(self.electric)
        spare, residuals = [array(empty), array(empty)], [array(empty), array(empty)]
        gains, left = array(self._gains(step)), self._decay(step)
        decay = None if left is None else tuple(array(each) for each in left)
        driven = [self._driven(load, drive) for load, drive in zip(self.loads, self._drives(step), strict=True)]

        def stage(a: float, b: float, values: list[float]) -> None:
            nonlocal spare
            self._by_block(
                "stage", dict(enumerate(self._fields)), *spare, *self._fields, *residuals, self.real(a), self.real(b),
                int((a, b) != LAST), self._ghost_rows, *self._mirrors, *self._ghosts, self._codes, self._nodes,
                self._metric, gains, *self._tables,
            )  # fmt: skip
            self._fields, spare = spare, self._fields
            for load, each, value in zip(self.loads, driven, values, strict=True):
                self._add(residuals[0], each, value, load.places.size)
                self._add(self._fields[0], each, b * value, load.places.size)

        self._march(steps, stage, decay)

    def _enter(self, time: float) -> None:
        waves, count = len(self.domain.incident.waves), self.entering[0][:1].size
        for ghosts, amplitudes in zip(self._ghosts, self._entering if waves else (), strict=False):
            self._launch(self._program, "enter", count, amplitudes, self._phases(time), waves, count, ghosts)

    def _decayed(self, factors: Any) -> None:
        if factors is not None:
            self._launch(self._program, "decay", self.electric.size, self._fields[0], factors, self.electric.size)
