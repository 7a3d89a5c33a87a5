"""A Green's function: the modified Helmholtz equation by the length over which it decays."""

from calderon.greens import ModifiedHelmholtz


class Screened(ModifiedHelmholtz):
    """G = exp(-r / length) / (4 pi r), for a length in m."""

    def __init__(self, length: float) -> None:
        super().__init__(1 / length)
