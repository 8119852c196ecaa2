"""A source -> an artifact of the store; `ensure` is what nodes call."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vinode.converters import detector, ir
from vinode.converters.cards import Card
from vinode.converters.files import UNWATCHED, Progress, Watch, never, quiet
from vinode.converters.record import Recipe, Record, Step, Verification
from vinode.converters.store import Artifact, Damage, Store
from vinode.graph.errors import Fault, ModelError
from vinode.graph.values import ModelPart

# Raised when the same source and options give another artifact than before.
VERSIONS = {"detector": 1, "graph": 1}


def recipe_of(card: Card) -> Recipe:
    """Tell what makes a model's artifact, and so its address in the store."""
    if card.kind == "detector":
        detector.check_options(card)
        options: dict[str, Any] = {**card.options, "family": card.family, "weights": "f16"}
        return Recipe(card.source.key, "detector", VERSIONS["detector"], options)
    return Recipe(card.source.key, "graph", VERSIONS["graph"], {"weights": "f16"})


def ready(store: Store, card: Card, watch: Watch = UNWATCHED) -> ModelPart | None:
    """Give a model that is converted already and whole, or None."""
    found = store.find(recipe_of(card).digest, watch)
    return found.part(card.name) if isinstance(found, Artifact) else None


def convert(
    card: Card, store: Store, progress: Progress = quiet, cancelled: Callable[[], bool] = never
) -> ModelPart:
    """Convert a model whose source is in the store, unless that is done; gives the IR.

    A damaged artifact is made again from the source. ModelError where the source is gone too.
    """
    watch = Watch(progress, cancelled)
    recipe = recipe_of(card)
    found = store.find(recipe.digest, watch)
    if isinstance(found, Artifact):
        return found.part(card.name)
    source = store.source(card.source, watch)
    if source is None:
        raise missing(card, found)

    def make(folder: Path) -> Record:
        return _make(card, recipe, source, folder, watch, found)

    return store.build(recipe, make, watch).part(card.name)


def ensure(
    store: Store, name: str, progress: Progress = quiet, cancelled: Callable[[], bool] = never
) -> ModelPart:
    """Give a model by name, converting it where its source is there. Never downloads."""
    return convert(store.card(name), store, progress, cancelled)


def missing(card: Card, found: Damage | None = None) -> ModelError:
    """Build the error for a model that is neither converted nor has its source in the store."""
    fix = f"vinode models pull {card.name}, or run with --pull"
    if not card.source.pypi and not card.source.path.is_file():
        fix = f"put {card.source.path} back, or remove the model and add it again"
    problem = "the model is not on this computer"
    if found:
        problem = f"the converted model is damaged ({found.problem}) and its source is gone"
    return ModelError(Fault("model store", problem, card.name, fix, code="model-missing"))


def _make(
    card: Card, recipe: Recipe, source: Path, folder: Path, watch: Watch, found: Damage | None
) -> Record:
    steps: list[Step] = []
    core, xml = ir.new_core(), folder / "model.xml"
    with _step(steps, "read", watch) as log:
        if found:
            log.append(f"rebuilt: {found.problem}")
        model = ir.read(core, source)
        log.append(f"{source.name}, {len(model.get_ops())} operations")
    if card.kind == "detector":
        with _step(steps, "prepare", watch) as log:
            model, lines = detector.prepare(model, card)
            log.extend(lines)
    with _step(steps, "write", watch):
        ir.write(model, xml)
    with _step(steps, "compare", watch) as log:
        fed = detector.source_feed(card) if card.kind == "detector" else dict
        checked, line = ir.compare(core, ir.read(core, source), xml, fed)
        log.append(line)
        refuse_wrong(card, checked)
    written = ir.read_as_it_is(core, xml)
    inputs, outputs = ir.ports(written)
    return Record(
        name=card.name,
        recipe=recipe,
        source=card.source,
        licence=card.licence,
        packages=ir.package_versions(),
        openvino=ir.openvino_version(),
        inputs=inputs,
        outputs=outputs,
        weights_dtype=ir.weights_dtype(written),
        date=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        steps=tuple(steps),
        verification=checked,
    )


def refuse_wrong(card: Card, checked: Verification | None) -> None:
    """Raise ModelError where a converted model does not answer as its source does."""
    if checked is None or checked.snr_db is None or checked.snr_db >= ir.WRONG_BELOW_DB:
        return
    problem = f"the converted model answers otherwise than its source (SNR {checked.snr_db:.1f} dB)"
    fix = "its weights may not fit float16: report it with the model's name"
    raise ModelError(Fault(f"model {card.name!r}", problem, fix=fix, code="wrong-result"))


@contextmanager
def _step(steps: list[Step], name: str, watch: Watch) -> Generator[list[str], None, None]:
    """Time a step and keep what it logs; an error names the step."""
    watch.tell(name)
    log: list[str] = []
    start = time.perf_counter_ns()
    yield log
    steps.append(Step(name, (time.perf_counter_ns() - start) / 1e9, tuple(log)))
