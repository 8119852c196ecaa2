"""Compiles one model for one device in a process of its own, and writes the blob.

An NPU compiler may abort its process, crash it, or run for an hour; only a child process may be
lost. Run as `python -m vinode.graph.compile_child` with a JSON request on standard input; the
answer is a line of JSON on standard output: {"ok": true} or {"error": text}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def compile_blob(request: dict[str, Any]) -> dict[str, Any]:
    """Compile as asked.

    xml, blob  files read and written
    shapes     input -> dimensions; empty to keep the model's own
    device     as OpenVINO takes it, with its options
    simulated  name of a stand-in device, or ""
    where      operation -> device of a model that is split, else empty
    """
    import openvino as ov

    from vinode.graph.split import place

    core = ov.Core()
    if request.get("simulated"):
        core.register_plugin("openvino_intel_cpu_plugin", request["simulated"])
    try:
        model: ov.Model = core.read_model(request["xml"])  # pyright: ignore[reportUnknownMemberType]
        if request["shapes"]:
            model.reshape({name: ov.PartialShape(dims) for name, dims in request["shapes"].items()})
        if request["where"]:
            place(model, request["where"], request["device"].removeprefix("HETERO:").split(",")[0])
        compiled = core.compile_model(model, request["device"], request["options"])
        blob: Any = compiled.export_model()
        content = blob.getvalue() if hasattr(blob, "getvalue") else bytes(blob)
        Path(request["blob"]).write_bytes(content)
    except Exception as error:  # whatever it was, the parent is to hear of it
        kind = "" if isinstance(error, RuntimeError) else f"{type(error).__name__}: "
        return {"error": f"{kind}{error}"}
    return {"ok": True}


def main() -> None:
    """Answer one request. Plugins write logs to standard output: the answer has its own line."""
    request = json.loads(sys.stdin.read())
    answer = compile_blob(request)
    sys.stdout.write("\n" + json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
