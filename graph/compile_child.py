"""Compiles one model for one device in a process of its own, and writes the blob.

An NPU compiler may abort its process, crash it, or run for an hour; only a child process may be
lost. Run as `python -m vinode.graph.compile_child` with a JSON request on standard input; the
answer is JSON on standard output: {"ok": true} or {"error": text}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def compile_blob(request: dict[str, Any]) -> dict[str, Any]:
    """Compile as asked: xml, shapes (name -> dims), device, options, blob, simulated (a name)."""
    import openvino as ov

    core = ov.Core()
    if request.get("simulated"):
        core.register_plugin("openvino_intel_cpu_plugin", request["simulated"])
    try:
        model: ov.Model = core.read_model(request["xml"])  # pyright: ignore[reportUnknownMemberType]
        if request["shapes"]:
            model.reshape({name: ov.PartialShape(dims) for name, dims in request["shapes"].items()})
        compiled = core.compile_model(model, request["device"], request["options"])
        blob: Any = compiled.export_model()
    except RuntimeError as error:
        return {"error": str(error)}
    Path(request["blob"]).write_bytes(blob.getvalue() if hasattr(blob, "getvalue") else bytes(blob))
    return {"ok": True}


def main() -> None:
    """Answer one request. Plugins write logs to standard output: the answer is the last line."""
    request = json.loads(sys.stdin.read())
    answer = compile_blob(request)
    sys.stdout.write("\n" + json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
