"""The type of fields that are given as anything like an array, and are arrays afterwards."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Given"]

if TYPE_CHECKING:
    Given: TypeAlias = np.ndarray | Any  # a constructor accepts all, and what it has made is known
else:
    Given = ArrayLike
