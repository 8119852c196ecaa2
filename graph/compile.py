"""A model part -> Compiled, or the reason why a device does not take it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vinode.graph.blobs import BlobKey
from vinode.graph.child import Job, compile_in_child
from vinode.graph.compiled import Compiled
from vinode.graph.context import Phase
from vinode.graph.devices import SIMULATED
from vinode.graph.part import Asked, read, refused_before, reshape, takes
from vinode.graph.placement import Reason, classify
from vinode.graph.rewrites import apply
from vinode.graph.sharing import SHARED_PREFIX, full, share
from vinode.graph.split import Split, assign

if TYPE_CHECKING:  # for its types only: importing OpenVINO costs a quarter of a second
    import openvino as ov

Timed: TypeAlias = Callable[[Phase], AbstractContextManager[None]]
Tell: TypeAlias = Callable[[float, float], None]

# A device that takes less of a model than this is not worth the crossings.
MIN_SHARE = 0.1


def untold(seconds: float, limit: float) -> None:
    """Tell nobody how long a compile takes."""


def compile_part(
    core: ov.Core, asked: Asked, timed: Timed, check: Callable[[], None], tell: Tell = untold
) -> Compiled | Reason:
    """Compile a part for a device, from its kept blob where there is one.

    tell  told (seconds so far, limit) while a child process compiles
    Raises ModelError where the IR or the inputs are at fault, and what `check` raises.
    """
    with timed("load"):
        model = _shaped(core, asked)
        unused = _rewritten(model, asked)
        refusal = refused_before(core, model, asked)
    if refusal is not None:
        return refusal
    with timed("compile"):
        split, where = _split(core, model, asked)
        if split is not None and split.shares.get(asked.devices[0], 0.0) < MIN_SHARE:
            return _too_small(split, asked)
        try:
            options, ignored = _options(core, asked)
            if asked.needs_child:
                made = _through_blob(core, model, asked, options, where, check, tell)
            else:
                made = core.compile_model(model, asked.device, options)
            if isinstance(made, Reason):
                return made
            reasons = (*unused, *ignored, *without_effect(made, dict(asked.options)))
            return _compiled(made, asked, split, where, reasons)
        except (RuntimeError, MemoryError) as error:
            return classify(error, asked.device)


def _shaped(core: ov.Core, asked: Asked) -> ov.Model:
    """Read the model and give it its shapes."""
    model = read(core, asked.part)
    if SHARED_PREFIX not in asked.rewrites:
        reshape(model, asked.part, asked.shapes)
        return model
    reshape(model, asked.part, full(asked.shapes))
    return share(model, dict(asked.shapes))


def _rewritten(model: ov.Model, asked: Asked) -> list[Reason]:
    """Apply the rewrites asked for; a reason for each that finds nothing to replace."""
    return [
        Reason("option-ignored", f"the model has nothing that {name} replaces", "drop the rewrite")
        for name, count in apply(model, _named(asked)).items()
        if not count
    ]


def _named(asked: Asked) -> tuple[str, ...]:
    return tuple(name for name in asked.rewrites if name != SHARED_PREFIX)


def _split(core: ov.Core, model: ov.Model, asked: Asked) -> tuple[Split | None, Mapping[str, str]]:
    if not asked.device.startswith("HETERO:"):
        return None, {}
    try:
        return assign(
            model, asked.devices, lambda device: takes(core, model, device, asked.simulation)
        )
    except RuntimeError:  # the query needs a driver that is not there; the compile says why
        return None, {}


def _too_small(split: Split, asked: Asked) -> Reason:
    share = split.shares.get(asked.devices[0], 0.0)
    sentence = f"{asked.devices[0]} takes only {share:.0%} of the operations"
    fix = f"put the node on {asked.devices[-1]} alone"
    return Reason("split-too-small", sentence, fix, tuple(op.place for op in split.refused[:20]))


def _options(core: ov.Core, asked: Asked) -> tuple[dict[str, Any], list[Reason]]:
    """Give the properties to compile with, and a reason for each that the device does not know."""
    reasons: list[Reason] = []
    # With it a compiled model can tell what executed; its cost cannot be measured.
    options: dict[str, Any] = {"PERF_COUNT": True}
    known = {
        device: set(core.get_property(device, "SUPPORTED_PROPERTIES")) for device in asked.devices
    }
    for name, value in asked.options:
        ignorant = [device for device in asked.devices if name not in known[device]]
        if not ignorant:
            options[name] = value
        else:
            sentence = f"{', '.join(ignorant)} does not know {name}"
            reasons.append(Reason("option-ignored", sentence, "drop the option"))
    return options, reasons


def _through_blob(
    core: ov.Core,
    model: ov.Model,
    asked: Asked,
    options: Mapping[str, Any],
    where: Mapping[str, str],
    check: Callable[[], None],
    tell: Tell,
) -> ov.CompiledModel | Reason:
    """Compile in a child process, or take the blob that an earlier one made."""
    import tempfile

    simulated = SIMULATED if SIMULATED in asked.devices else ""
    key = blob_key(core, asked)
    blob = asked.blobs.find(key) if asked.blobs else None
    with tempfile.TemporaryDirectory(prefix="vinode-") as folder:
        if blob is None:
            part = Path(folder) / "model.blob"
            xml = _ir(model, asked, Path(folder))
            job = Job(xml, asked.device, dict(asked.shapes), options, simulated, where)
            reason = compile_in_child(job, part, asked.seconds, check, tell)
            if reason is not None:
                return reason
            content = part.read_bytes()
            if asked.blobs:
                # A full or read-only disk costs the next compile, not this run.
                with contextlib.suppress(OSError):
                    asked.blobs.keep(key, content)
        else:
            content = blob.read_bytes()
    made: ov.CompiledModel = core.import_model(content, asked.device, options)  # pyright: ignore
    return made


def _ir(model: ov.Model, asked: Asked, folder: Path) -> Path:
    """Give the IR that a child reads: the part's own, or the rewritten model in a folder."""
    import openvino as ov

    if not asked.rewrites:
        return asked.part.xml
    path = folder / "model.xml"
    ov.save_model(model, path, compress_to_fp16=False)
    return path


def blob_key(core: ov.Core, asked: Asked) -> BlobKey:
    """Give all that a compiled blob of this depends on."""
    import openvino as ov

    told: dict[str, list[str]] = {"FULL_DEVICE_NAME": []}
    versions = ("NPU_DRIVER_VERSION", "NPU_COMPILER_VERSION", "GPU_DRIVER_VERSION")
    for device in asked.devices:
        for name in ("FULL_DEVICE_NAME", *versions):
            # A plugin refuses what it does not know.
            with contextlib.suppress(RuntimeError):
                told.setdefault(name, []).append(str(core.get_property(device, name)))
    names = told.pop("FULL_DEVICE_NAME")
    driver = [text for texts in told.values() for text in texts]
    if SIMULATED in asked.devices and asked.simulation:
        driver.append(asked.simulation.traits)
    return BlobKey(
        asked.part.digest,
        dict(asked.shapes),
        dict(asked.options),
        " ".join((asked.device, *names)),
        " ".join(driver),
        ov.get_version(),
        asked.rewrites,
    )


def _compiled(
    made: ov.CompiledModel,
    asked: Asked,
    split: Split | None,
    where: Mapping[str, str],
    reasons: tuple[Reason, ...],
) -> Compiled:
    """Make the request and give it memory of ours for outputs of fixed shape."""
    import openvino as ov

    request = made.create_infer_request()
    outputs: dict[str, NDArray[Any]] = {}
    for index, port in enumerate(made.outputs):
        if port.get_partial_shape().is_static:
            memory = np.empty(tuple(port.get_shape()), port.element_type.to_dtype())
            # An empty array has no memory to share.
            if memory.size:
                request.set_output_tensor(index, ov.Tensor(memory, shared_memory=True))
                outputs[port.get_any_name()] = memory
    inputs = {port.get_any_name(): request.get_tensor(port).data for port in made.inputs}
    return Compiled(
        request,
        asked.device,
        reported(made),
        inputs,
        outputs,
        tuple(port.get_any_name() for port in made.outputs),
        asked.part.bytes + sum(a.nbytes for a in (*inputs.values(), *outputs.values())),
        split,
        where,
        reasons,
    )


def reported(made: ov.CompiledModel) -> tuple[str, ...]:
    """Give the devices that a compiled model says it runs on.

    The NPU plugin gives a bare string; AUTO puts the CPU in parentheses while it stands in for
    another device, and for ever where that one failed. A claim, not the truth.
    """
    said: str | list[str] = made.get_property("EXECUTION_DEVICES")
    return tuple(name.strip("()") for name in ([said] if isinstance(said, str) else said))


def without_effect(made: ov.CompiledModel, options: Mapping[str, Any]) -> list[Reason]:
    """Read options back: a compile accepts some that then have no effect."""
    reasons: list[Reason] = []
    for name, value in options.items():
        try:
            said = str(made.get_property(name))
        except RuntimeError:  # a plugin that cannot tell is believed
            continue
        # Types print as <Type: 'float32'>, enumerations as Priority.HIGH.
        told = re.search(r"(\w+)\W*$", said.lower().replace("float", "f"))
        if told is None or told[1] != str(value).lower():
            sentence = f"{name}={value} has no effect: the compiled model says {said}"
            reasons.append(Reason("option-ignored", sentence, "drop the option"))
    return reasons
