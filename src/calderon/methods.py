"""The methods that assemble operators and sum potentials: what `operators.methods` and `potentials.summation` look up.

Both tables import this module when a method is first looked for, so that `assemble("hmatrix")` reaches the folders of
methods, which are above, without an import.
"""

from calderon.dense import assemble_dense, assemble_matrix_free, plan_dense
from calderon.fft import assemble_fft, plan_fft
from calderon.fmm import assemble_fmm, plan_fmm
from calderon.fmm.sums import LAYERS as LAPLACE_SUMS
from calderon.hmatrix import assemble_hmatrix, hlu, plan_hmatrix, save_assembly
from calderon.hmatrix.saving import SavedParts
from calderon.mlfmm import ACCEPTED, assemble_mlfmm, plan_mlfmm, require_near_file, save_near
from calderon.mlfmm.sums import LAYERS as HELMHOLTZ_SUMS
from calderon.operators.methods import Method, register
from calderon.potentials.summation import register_sums

register(
    Method(
        "dense", assemble_dense, several=True, mixed=True, by_entries=True, stores_entries=True, stores_near=True,
        finds_near=True, keeps_on_device=True, matrix="dense matrix", plan=plan_dense,
    )
)  # fmt: skip
register(Method("matrix-free", assemble_matrix_free, by_entries=True, matrix="no matrix"))
register(
    Method(
        "hmatrix", assemble_hmatrix, several=True, by_entries=True, compresses=True, saves=save_assembly,
        reads=SavedParts, factorise=hlu, finds_near=True, matrix="H-matrix", plan=plan_hmatrix,
    )
)  # fmt: skip
register(
    Method(
        "fmm", assemble_fmm, several=True, compresses=True, joins_blocks=True, devices=False,
        matrix="fast multipole operator", plan=plan_fmm,
    )
)  # fmt: skip
register(
    Method(
        "mlfmm", assemble_mlfmm, several=True, stores_near=True, finds_near=True, compresses=True, finest=1e-6,
        least=ACCEPTED, once={"once": True}, saves=save_near, reads=require_near_file, devices=False,
        matrix="multilevel fast multipole operator", plan=plan_mlfmm,
    )
)  # fmt: skip
register(
    Method(
        "fft", assemble_fft, several=True, mixed=True, stores_near=True, finds_near=True, grids=True, devices=False,
        matrix="pre-corrected FFT operator", plan=plan_fft,
    )
)  # fmt: skip
register_sums(LAPLACE_SUMS)
register_sums(HELMHOLTZ_SUMS)
