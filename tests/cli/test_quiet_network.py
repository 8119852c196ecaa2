"""Nothing is told to anybody: no connection that the user did not ask for."""

from __future__ import annotations

from pathlib import Path

from tests.cli.program import run_program, save


def test_nobody_is_told_of_a_run(tmp_path: Path) -> None:
    """No name is looked up, no connection made, nothing of OpenVINO's telemetry left behind."""
    before = """
import sys
def watch(event, args):
    if event in ("socket.getaddrinfo", "socket.connect", "socket.sendto"):
        print("talked:", event, args, file=sys.stderr)
sys.addaudithook(watch)
"""
    after = (
        "import openvino, time; time.sleep(0.5); print('openvino_telemetry.main' in sys.modules)"
    )
    file = save(tmp_path / "w.json")
    code, out, err = run_program("run", file, "--quiet", before=before, after=after, cwd=tmp_path)
    assert (code, out, err) == (0, "False\n", "")
