"""Each script in examples/ runs, meets the number that it asserts and leaves its pictures."""

import runpy
from pathlib import Path

import numpy as np
import pytest

COARSE = {
    "chip_interconnect": {"h": 1.6e-6, "lengths": (4.0, 6.0), "points": 40},
    "car_cabin": {"h": 0.4, "step": 24.0},
    "driven_foundation": {"count": 2, "cells": (4, 3, 1)},
    "engine_block": {"h": 0.11, "bands": np.array([100.0, 315.0])},
    "ion_trap": {"h": 0.7e-3, "points": 40},
    "loudspeaker": {"h": 0.05, "highest": 1000.0},
    "graded_insulator": {"h": 0.035, "layers": 2, "points": 21},
    "luneburg_lens": {"h": 0.25},
    "shielded_coil": {"h": 0.27, "points": 21},
    "silencer": {"count": 3},
    "sphere_head": {"h": 0.02, "highest": 2520.0},
    "slab_capacitor": {"h": 0.2, "points": 60},
    "steel_sphere_and_shell": {"count": 2, "h": 0.5, "fine": 200},
    "stiffened_hull": {"around": 6, "along": 0.3, "points": 24, "frames": 2},
    "submarine_at_sea": {"points": 16},
    "touch_sensor": {"gaps": (0.3, 20.0), "points": 48},
}
"""Arguments of examples of many solutions that make them fit a test."""
SCRIPTS = sorted((Path(__file__).parents[2] / "examples").glob("[!_]*.py"))


@pytest.mark.usefixtures("all_pixels")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_meets_its_number(script, tmp_path):
    runpy.run_path(str(script))["main"](tmp_path, **COARSE.get(script.stem, {}))
    assert all(picture.stat().st_size > 10_000 for picture in tmp_path.glob("*.png"))
    assert list(tmp_path.glob("*.png"))
