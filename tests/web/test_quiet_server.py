"""A server talks to nobody but to those who ask it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
def watch(event, args):
    if event == "socket.connect" and args[1][0] not in ("127.0.0.1", "::1"):
        print("talked:", event, args[1], file=sys.stderr)
    named = event in ("socket.getaddrinfo", "socket.gethostbyname")
    if named and args[0] not in ("127.0.0.1", None):
        print("asked for:", event, args, file=sys.stderr)
sys.addaudithook(watch)
from pathlib import Path
from tests.web.room import FINE
from tests.web.visit import visit
async def script(visitor):
    for path in ("/", "/object_info", "/vinode/models", "/system_stats", "/vinode/nodes"):
        assert (await visitor.get(path)).status == 200
    async with visitor.socket() as socket:
        await visitor.run(FINE, client_id="me")
visit(Path(sys.argv[1]), script, worker=True)
assert "openvino" not in sys.modules, "the server itself does without OpenVINO"
assert "torch" not in sys.modules
"""


def test_nobody_is_told_of_a_server(tmp_path: Path) -> None:
    """No name is looked up and no connection made; and OpenVINO is the worker's alone."""
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
