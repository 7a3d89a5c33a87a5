"""A disk without room for a checkpoint: the run goes on, the last good one stays, later ones are tried."""

import resource
import signal
import warnings

import h5py
import numpy as np

import calderon as cal

MODE = cal.exact.cubic_cavity(mode=(1, 1, 1))


def cavity():
    result = cal.MaxwellDG(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=3), 2)
    result.set_fields(MODE.electric, MODE.magnetic)
    return result


def test_a_run_outlives_a_full_disk(tmp_path):
    """Files may have no more than 20 kB from step 10 to step 29: HDF5 fails as it does on a full disk."""
    file, limits = tmp_path / "run.h5", resource.getrlimit(resource.RLIMIT_FSIZE)
    whole, full = cavity(), cavity()
    until, saved = 40 * whole.time_step, {}
    whole.run(until)
    probe = full.add_probe([[0.5, 0.4, 0.3]])
    record = probe.record

    def watched(now):
        record(now)
        if now.step in (10, 30):
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000 if now.step == 10 else limits[0], limits[1]))
        if file.exists():
            with h5py.File(file) as there:
                saved[now.step] = int(there.attrs["steps"])

    probe.record = watched
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            full.run(until, checkpoint=file, checkpoint_seconds=0.0, keep_checkpoint=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    texts = [str(each.message) for each in caught]
    assert len(texts) == 1 and "the checkpoint after step 10 could not be written to" in texts[0]
    assert "the last one stays; the run goes on and tries again: make room on that disk" in texts[0]
    assert saved[10] == saved[20] == saved[30] == 9 and saved[35] == 34
    assert np.array_equal(full._system.electric, whole._system.electric)
    assert [path.name for path in tmp_path.iterdir()] == ["run.h5"]
    again = cavity()
    again.add_probe([[0.5, 0.4, 0.3]])
    again.run(until, checkpoint=file)
    assert np.array_equal(again._system.electric, whole._system.electric)
