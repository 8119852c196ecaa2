"""Names of files over the network never leave their folder."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vinode.web.contained import NameRefused, inside


@pytest.mark.parametrize(
    "name",
    [
        "..", "../a", "a/../../b", "a/..", "/etc/passwd", "\\windows", "C:\\a", "c:a", "C:/a",
        "\\\\server\\share\\a", "//server/share", "a\0b", "con", "NUL.png", "a/aux.txt", "com1",
        "LPT9.x", "a:stream", "a.", "a ", "a/ /b", "x" * 300, "a\\..\\..\\b", "a\n.png", "?",
        "..\\..\\a", "\ud800.png", "../" * 400,
    ],
)  # fmt: skip
def test_names_that_leave_or_are_none_are_refused(tmp_path: Path, name: str) -> None:
    """In one sentence that says why."""
    with pytest.raises(NameRefused, match="filename: "):
        inside(tmp_path, name)


@pytest.mark.parametrize("name", ["a.png", "a/b.png", "a\\b.png", "ü/ñ 1.png", ".a", "a..b", "./a"])
def test_plain_names_are_found(tmp_path: Path, name: str) -> None:
    """With slashes of both kinds."""
    found = inside(tmp_path, name)
    assert found == tmp_path.resolve() / name.replace("\\", "/")


@pytest.mark.skipif(os.name == "nt", reason="making links needs a right on Windows")
def test_links_that_lead_out_are_refused(tmp_path: Path) -> None:
    """A link inside the folder is followed before it is judged."""
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("s")
    (root / "out").symlink_to(tmp_path)
    (root / "file").symlink_to(tmp_path / "secret")
    (root / "circle").symlink_to(root / "circle")
    for name in ("out/secret", "file", "out"):
        with pytest.raises(NameRefused):
            inside(root, name)


@given(st.text(alphabet=st.sampled_from("./\\ab:\0 ~%\ud800ü"), max_size=12) | st.text(max_size=40))
@example("a/..")
def test_what_is_found_is_inside(name: str) -> None:
    """Whatever the name, it is refused or stays below the root."""
    root = Path(tempfile.gettempdir()).resolve()
    try:
        found = inside(root, name)
    except NameRefused:
        return
    assert found.is_relative_to(root)
