"""Pictures of the README and the documentation, from one command: `python docs/tools/make_pictures.py`, some minutes.

It runs the cases and the examples, and reduces their pictures. `python docs/tools/make_pictures.py almond phone` runs these
cases only, `python docs/tools/make_pictures.py gallery` the scripts in examples/; a folder `almond-result` that is there
already is used as it is. Figures of measurements have programs of their own: `docs/tools/make_solid_pictures.py`,
`benchmarks/time_domain/dg_scaling.py`.
"""

import runpy
import subprocess
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[2]
TARGET, GALLERY = ROOT / "docs" / "pictures", ROOT / "docs" / "gallery" / "pictures"
THUMBNAIL = 360
PICTURES = {  # by the name of the case: of its result, the name here and the width in pixels
    "submarine": {
        "surface_abs.png": ("submarine_pressure.png", 1000),
        "far_field_polar.png": ("submarine_pattern.png", 640),
    },
    "almond": {
        "monostatic.png": ("almond_rcs.png", 1000),
        "surface_abs.png": ("almond_current.png", 1000),
    },
    "bracket": {
        "conditions.png": ("bracket_conditions.png", 520),
        "von_mises.png": ("bracket_von_mises.png", 640),
    },
    "phone": {
        "slice_1.png": ("phone_sar.png", 720),
        "slice_2.png": ("phone_field.png", 720),
    },
}
COVERS = {
    "head_potentials": "potential.png",
    "ion_trap": "trap.png",
    "touch_sensor": "finger.png",
    "strip_dipole": "near_field.png",
    "yagi_deck": "field.png",
    "hf_dipole": "pattern.png",
    "shielded_box": "time.png",
    "steered_array": "beams.png",
    "horn": "field.png",
    "helix": "pattern.png",
    "monopole": "gain.png",
    "inverted_f": "pattern.png",
    "loaded_dipole": "reactance.png",
    "patch_on_board": "gain.png",
    "driven_foundation": "water.png",
    "graded_insulator": "graded.png",
    "shielded_coil": "shield.png",
    "stiffened_hull": "hull.png",
    "luneburg_lens": "focus.png",
    "steel_sphere_and_shell": "sphere.png",
    "loudspeaker": "field.png",
    "car_cabin": "spectrum.png",
    "submarine_at_sea": "sea.png",
    "engine_block": "pressure.png",
    "sphere_scattering": "hard_surface.png",
    "ellipsoid_capacitance": "charge.png",
}
"""The picture of an example in the gallery, if not its first one."""


def reduced(source: Path, target: Path, width: int) -> None:
    """A picture of a width in pixels, in full colour: a palette would show colours that the scale does not have."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(source) as picture:
        height = round(picture.height * width / picture.width)
        small = picture.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
    small.save(target, optimize=True)
    print(f"{target.name}: {width} x {height}, {target.stat().st_size / 1000:.0f} kB")


def pictures_of_case(name: str) -> None:
    result = Path(f"{name}-result")
    if not result.exists():
        subprocess.run([sys.executable, "-m", "calderon", "example", name], check=True)
    for source, (target, width) in PICTURES[name].items():
        reduced(result / source, TARGET / target, width)


def pictures_of_examples() -> None:
    """A thumbnail of each, and the blocks of an H-matrix in full size."""
    for script in sorted((ROOT / "examples").glob("[!_]*.py")):
        folder = GALLERY / script.stem
        if not folder.exists():
            runpy.run_path(str(script))["main"](folder)
        first = sorted(folder.glob("*.png"))[0].name
        reduced(
            folder / COVERS.get(script.stem, first),
            TARGET / "gallery" / f"{script.stem}.png",
            THUMBNAIL,
        )
    reduced(
        GALLERY / "compressed_matrix" / "blocks.png", TARGET / "hmatrix_blocks.png", 900
    )


if __name__ == "__main__":
    for chosen in sys.argv[1:] or [*PICTURES, "gallery"]:
        pictures_of_examples() if chosen == "gallery" else pictures_of_case(chosen)
