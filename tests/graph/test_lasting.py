"""What must not last, must not be lost, and must not be believed: one row of promises each."""

from __future__ import annotations

import zlib
from io import BytesIO
from pathlib import Path

import numpy as np

from tests.graph.chains import chain, saved, used
from vinode.graph.cache import Result, size_of
from vinode.graph.devices import SIMULATED
from vinode.graph.part import Simulation
from vinode.graph.png_text import SIGNATURE, read_png_text
from vinode.graph.pool import Pool
from vinode.graph.whole_file import write_whole


def test_memory_that_ran_out_once_may_be_free_the_next_time(tmp_path: Path) -> None:
    """The reason of one run is none for the next, which finds the disk to keep blobs full too."""
    (tmp_path / "file").touch()
    part = saved(chain("sin"), tmp_path)
    simulation = Simulation(in_child=True, fails="OUT_OF_DEVICE_MEMORY")
    pool = Pool(simulate=simulation, folder=tmp_path / "file" / "blobs")
    for _ in range(2):
        reasons = used(pool, part, SIMULATED).reasons
        assert [reason.code for reason in reasons] == ["out-of-memory"]
    good = Pool(simulate=Simulation(in_child=True), folder=tmp_path / "file" / "blobs")
    assert used(good, part, SIMULATED).compiled.device == SIMULATED


def test_a_view_counts_as_what_it_keeps() -> None:
    """A crop of one pixel holds the whole picture in memory."""
    crop = np.zeros((1, 512, 512, 3), np.float32)[:, :1, :1]
    assert size_of(Result(((crop,),))) > 3_000_000


def test_the_texts_of_a_picture_are_bounded_together() -> None:
    """Sixteen texts that each unpack to the limit take no more memory than one."""
    packed = zlib.compress(b"x" * 1000)
    file = BytesIO(SIGNATURE)
    file.seek(0, 2)
    for number in range(16):
        content = f"k{number}\0\0".encode() + packed
        file.write(len(content).to_bytes(4, "big") + b"zTXt" + content + b"crc.")
    assert sum(map(len, read_png_text(file, 2500).values())) == 2000


def test_a_device_file_is_written_to_and_not_replaced() -> None:
    """A report to the null device leaves it what it is."""
    null = Path("nul" if not Path("/dev/null").exists() else "/dev/null")
    write_whole(null, b"report")
    assert not null.is_file()
