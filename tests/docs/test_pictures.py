"""The pictures of pages in the manuals show the pages as they are."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from book import pictures
from crewlearn.problem.arrays import FloatArray

BLOCK = 20
"""Pixels a side of the squares that are compared: too coarse for words, dates and fonts, not for a layout."""

MOST = 0.06
"""The largest mean difference in brightness, from 0 to 1: the demo ends today, so its advice differs by day."""


def coarse(path: Path) -> FloatArray:
    """Return the brightness of a picture's squares."""
    grey = np.asarray(imread(path), dtype=np.float64)[..., :3].mean(axis=2)
    rows, columns = (size // BLOCK * BLOCK for size in grey.shape)
    squares: FloatArray = grey[:rows, :columns].reshape(rows // BLOCK, BLOCK, columns // BLOCK, BLOCK).mean(axis=(1, 3))
    return squares


def test_pictures_show_the_pages_as_they_are(tmp_path: Path) -> None:
    if shutil.which("chromium") is None:
        pytest.skip("THE PICTURES OF THE MANUALS ARE NOT CHECKED: there is no chromium here")
    pictures.take(tmp_path)
    kept = {name: coarse(pictures.FOLDER / name) for name in pictures.VIEWS}
    taken = {name: coarse(tmp_path / name) for name in pictures.VIEWS}
    assert {name: picture.shape for name, picture in kept.items()} == {name: one.shape for name, one in taken.items()}
    for name in pictures.VIEWS:
        assert np.abs(kept[name] - taken[name]).mean() < MOST, f"{name}: run make pictures, and look at what changed"
    first, second = (taken[name][:40] for name in pictures.VIEWS)
    assert np.abs(first - second).mean() > MOST, "the comparison tells two pages apart"
