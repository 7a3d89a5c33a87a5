"""A Green's function as definitions of a device source."""

from calderon.greens import Green


def green_defines(green: Green) -> tuple[tuple[str, str | int], ...]:
    """What tells a device source which Green's function it serves."""
    lossy = int(green.is_complex and complex(green.wavenumber).imag != 0)
    return ("GREEN", f'"{green.source}"'), ("COMPLEX", int(green.is_complex)), ("LOSSY", lossy)
