"""Pictures of the README and the documentation, reduced from those of a result.

calderon example submarine
calderon example almond
calderon example phone
calderon example bracket
python docs/make_pictures.py submarine-result almond-result phone-result bracket-result
"""

import sys
from pathlib import Path

from PIL import Image

TARGET = Path(__file__).parent / "pictures"
PICTURES = {  # by the name of the example: of its result, the name here and the width in pixels
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


def main(result: Path) -> None:
    """Reduce each picture to its width, which also makes it small enough for the repository."""
    TARGET.mkdir(exist_ok=True)
    for name, (target, width) in PICTURES[result.name.removesuffix("-result")].items():
        with Image.open(result / name) as picture:
            height = round(picture.height * width / picture.width)
            small = picture.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
        small.save(TARGET / target, optimize=True)
        print(f"{target}: {width} x {height}, {(TARGET / target).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    for folder in sys.argv[1:] or ["submarine-result"]:
        main(Path(folder))
