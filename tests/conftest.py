"""Settings for all tests."""

import os

# NumPy and SciPy each bring their own OpenBLAS; two pools of threads on few cores wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
