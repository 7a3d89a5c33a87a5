"""The warning that a result may be less accurate than asked."""


class AccuracyWarning(UserWarning):
    """Something lowers the accuracy of a result: a coarse mesh, points on a surface, surfaces that almost touch."""
