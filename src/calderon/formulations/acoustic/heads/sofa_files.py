"""Files of the spatially oriented format for acoustics (SOFA, AES69), by the package sofar.

Their spectra have the time factor exp(+i omega t), conjugate to that of this package; x leads to the front, y to the
left, z up.
"""

import os
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.files import file_path, whole_file
from calderon.processes import package_version


def write_sofa(
    path: str | os.PathLike[str],
    sources: NDArray[np.float64],
    receivers: NDArray[np.float64],
    spectra: tuple[NDArray[np.float64], NDArray[np.complex128]] | None = None,
    samples: tuple[float, NDArray[np.float64]] | None = None,
    comment: str = "",
) -> None:
    """Write transfer functions, or responses in time, of receivers for sources, both (..., 3) in m about the listener.

    spectra: frequencies (f,) in Hz and values (f, sources, receivers) for exp(-i omega t). samples: rate in 1/s and
    (n, sources, receivers); one of the two. Two receivers, the left ear first, are SimpleFreeFieldHRTF or -HRIR, other
    numbers GeneralTF or -FIR. RuntimeError without sofar, ValueError for another ending than .sofa.
    """
    place = file_path(path, "a transfer function", "head.sofa")
    if place.suffix.lower() != ".sofa":
        raise ValueError(f"transfer functions are written to files that end in .sofa, got {str(path)!r}")
    try:
        sofar: Any = import_module("sofar")
    except ImportError:
        raise RuntimeError("SOFA files are written by sofar, which is missing: pip install 'calderon[sofa]'") from None
    pair = len(receivers) == 2
    kinds = ("SimpleFreeFieldHRTF", "GeneralTF") if spectra is not None else ("SimpleFreeFieldHRIR", "GeneralFIR")
    made = sofar.Sofa(kinds[0] if pair else kinds[1])
    made.GLOBAL_ApplicationName, made.GLOBAL_ApplicationVersion = "calderon", package_version()
    made.GLOBAL_Comment = comment
    made.SourcePosition, made.SourcePosition_Type = _spherical(sources), "spherical"
    made.SourcePosition_Units = "degree, degree, metre"
    made.ReceiverPosition, made.ReceiverPosition_Type = receivers, "cartesian"
    made.ReceiverPosition_Units = "metre"
    if spectra is not None:
        frequencies, values = spectra
        ordered = values.conj().transpose(1, 2, 0)
        made.N, made.Data_Real, made.Data_Imag = frequencies, ordered.real, ordered.imag
    elif samples is not None:
        rate, response = samples
        made.Data_SamplingRate, made.Data_IR = rate, response.transpose(1, 2, 0)
        made.Data_Delay = np.zeros((1, len(receivers)))
    with whole_file(place) as scratch:
        sofar.write_sofa(str(scratch), made)


def _spherical(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Azimuth from the front to the left and elevation in degrees, and radius in m (n, 3)."""
    radius = np.linalg.norm(points, axis=1)
    azimuth = np.degrees(np.arctan2(points[:, 1], points[:, 0])) % 360
    elevation = np.degrees(np.arcsin(np.clip(points[:, 2] / np.where(radius > 0, radius, 1.0), -1, 1)))
    return np.stack([azimuth, elevation, radius], axis=1)
