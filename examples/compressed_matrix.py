"""A matrix in a fifth of its memory, by blocks of low rank.

An H-matrix stores the interaction of distant parts of a surface as a few columns times a few rows. The single layer of
a sphere is compressed to a relative error of 1e-5 and factorised; its exact capacitance is the radius. The picture
shows the blocks: dark ones are dense, the others have their rank as a colour.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal


def main(folder: Path, h: float = 0.08) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    space = cal.P1(cal.mesh.sphere(1.0, h))
    matrix = cal.single_layer(cal.Laplace(), space).assemble("hmatrix", rtol=1e-5)
    load = space.load_vector(1.0)
    density, info = cal.gmres(matrix, load, rtol=1e-8, preconditioner=cal.hlu(matrix, rtol=1e-2))
    share = matrix.nbytes / (8 * space.dimension**2)
    error = abs(cal.Function(space, density).integral() / (4 * np.pi) - 1)
    print(
        f"{matrix}\n{share:.1%} of a dense matrix, {info.iterations} iterations, error of the capacitance {error:.1e}"
    )
    cal.plots.hmatrix(matrix, folder / "blocks.png")
    assert share < 0.3, share
    assert error < 5e-3 and info.iterations < 12, (error, info)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
