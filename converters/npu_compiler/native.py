"""Compiles one model for an NPU with this system's own libraries, in a process of its own.

Run as `python -m vinode.converters.npu_compiler.native MODEL.xml OUT.blob KEY=VALUE ...`; it
answers in the same lines as host.c.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import psutil


def peak_bytes() -> int:
    """Give the most memory that this process has used."""
    used = psutil.Process().memory_info()
    windows: int | None = getattr(used, "peak_wset", None)
    if windows is not None:
        return windows
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main(words: list[str]) -> int:
    """Compile, write the blob, and answer."""
    import openvino as ov

    xml, blob, *given = words
    options = dict(word.split("=", 1) for word in given)
    # Without it the plugin asks the driver, which is not there.
    options.setdefault("NPU_COMPILER_TYPE", "PLUGIN")
    start = time.perf_counter()
    try:
        core = ov.Core()
        model: ov.Model = core.read_model(xml)  # pyright: ignore[reportUnknownMemberType]
        start = time.perf_counter()
        compiled = core.compile_model(model, "NPU", options)
        spent = time.perf_counter() - start
        content = compiled.export_model()
        data = content.getvalue() if hasattr(content, "getvalue") else bytes(content)
        Path(blob).write_bytes(data)
    except Exception as error:  # whatever it was, the parent is to hear of it
        spent = time.perf_counter() - start
        print(f"\n@failed seconds={spent:.3f} peak={peak_bytes()}\n{error}\n@end", flush=True)
        return 1
    print(f"\n@compiled seconds={spent:.3f} bytes={len(data)} peak={peak_bytes()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
