"""The real face detector on a real photo. Its weights are fetched once and kept for later runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture

from tests.nodes.context import CallContext, folders_below
from tests.nodes.test_detect import infer
from tests.real_models import pulled
from vinode.converters.cards import catalogue
from vinode.graph.context import Folders
from vinode.graph.values import Image
from vinode.nodes.algorithms.nms import overlap
from vinode.nodes.detect import detect_objects, detector_loader, non_max_suppression_node

PHOTO = Path(__file__).parents[2] / "workflows" / "photos" / "astronaut.jpg"
FACE = np.array([180, 82, 274, 176], np.float64)  # x0 y0 x1 y1, pixels


@pytest.mark.parametrize(
    ("name", "least"),
    [("face-short-range", 0.8), ("face-full-range", 0.7), ("face-back-camera", 0.7)],
)
def test_the_astronauts_face_is_found(name: str, least: float, tmp_path: Path) -> None:
    """One face, where it is; the two other models draw their boxes a little wider."""
    assert name in catalogue()
    below = folders_below(tmp_path)
    folders = Folders(below.input, below.output, below.temp, (pulled(name),))
    context = CallContext(folders, infer=infer)
    image = Image(np.asarray(Picture.open(PHOTO).convert("RGB"))[np.newaxis].copy())
    found = detect_objects(detector_loader(context, name), image, context)
    kept = non_max_suppression_node(found, context)
    assert len(kept) == 1
    assert kept.labels == ("face",)
    assert kept.scores[0] > 0.8
    assert overlap(FACE, kept.boxes.astype(np.float64))[0] >= least
