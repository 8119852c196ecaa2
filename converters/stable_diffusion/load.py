"""What loader nodes call: a file or folder -> handles, converted where that is not done yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from vinode.converters.files import Progress, Watch, never, quiet
from vinode.converters.formats import refusal
from vinode.converters.stable_diffusion import build
from vinode.converters.stable_diffusion.family import Part, time_width
from vinode.converters.stable_diffusion.found import Found, PartSource
from vinode.converters.stable_diffusion.look import look
from vinode.converters.store import Artifact, Store
from vinode.graph.diffusion import Clip, DiffusionModel, Vae
from vinode.graph.errors import Fault, ModelError
from vinode.graph.values import ModelPart

Want: TypeAlias = Literal["model", "clip", "vae"]
ALL: tuple[Want, ...] = ("model", "clip", "vae")
_SMALL = 512 * 10**6  # bytes of a checkpoint of which two parts at a time fit into any memory
TOKENS = "tokens.npy"  # beside the text encoder's IR

_PARTS: Mapping[Want, tuple[Part, ...]] = {
    "model": ("unet",),
    "clip": ("text_encoder",),
    "vae": ("vae_decoder", "vae_encoder"),
}
_NAMES: Mapping[Want, str] = {
    "model": "diffusion model",
    "clip": "text encoder",
    "vae": "autoencoder (VAE)",
}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The handles of a checkpoint; None where it has no such part, or it was not asked for."""

    model: DiffusionModel | None
    clip: Clip | None
    vae: Vae | None


def load_checkpoint(
    store: Store,
    path: Path,
    progress: Progress = quiet,
    cancelled: Callable[[], bool] = never,
    wanted: tuple[Want, ...] = ALL,
    embeddings: tuple[Path, ...] = (),
) -> Checkpoint:
    """Give a checkpoint's handles, converting what is asked for and not converted yet.

    progress    told the step, which part of how many, or bytes of how many
    embeddings  folders of textual inversion files, kept in the text encoder's handle
    """
    found = look(path)
    return _handles(found, _built(store, found, wanted, progress, cancelled), embeddings)


def _built(
    store: Store,
    found: Found,
    wanted: tuple[Want, ...],
    progress: Progress,
    cancelled: Callable[[], bool],
) -> dict[Part, Artifact]:
    """Convert part by part, or two at a time where they are so small that starting is the work."""
    sources = list(_sources(found, wanted))
    made: dict[Part, Artifact] = {}
    failed: list[BaseException] = []

    def tell(step: str, done: int, total: int) -> None:
        progress(step, done if total else len(made), total or len(sources))

    watch = Watch(tell, lambda: bool(failed) or cancelled())

    def convert(source: PartSource) -> None:
        if failed:
            return
        try:
            made[source.part] = build.build(store, found, source, watch)
        except BaseException as error:  # a cancel too: it ends the other one, and is raised below
            failed.append(error)

    at_once = 2 if sum(source.bytes for source in sources) < _SMALL else 1
    with ThreadPoolExecutor(at_once, "convert") as pool:
        list(pool.map(convert, sources))
    if failed:
        raise failed[0]
    return made


def load_unet(
    store: Store, path: Path, progress: Progress = quiet, cancelled: Callable[[], bool] = never
) -> DiffusionModel:
    """Give the denoising model of a file or folder; ModelError where it has none."""
    model = load_checkpoint(store, path, progress, cancelled, ("model",)).model
    if model is None:
        raise _lacks(path, "model")
    return model


def load_clip(
    store: Store,
    path: Path,
    progress: Progress = quiet,
    cancelled: Callable[[], bool] = never,
    embeddings: tuple[Path, ...] = (),
) -> Clip:
    """Give the text encoder of a file or folder; ModelError where it has none."""
    clip = load_checkpoint(store, path, progress, cancelled, ("clip",), embeddings).clip
    if clip is None:
        raise _lacks(path, "clip")
    return clip


def load_vae(
    store: Store, path: Path, progress: Progress = quiet, cancelled: Callable[[], bool] = never
) -> Vae:
    """Give the autoencoder of a file or folder; ModelError where it has none."""
    vae = load_checkpoint(store, path, progress, cancelled, ("vae",)).vae
    if vae is None:
        raise _lacks(path, "vae")
    return vae


def converted(
    store: Store, path: Path, wanted: tuple[Want, ...] = ALL, embeddings: tuple[Path, ...] = ()
) -> Checkpoint | None:
    """Give the handles where all that is wanted is converted, else None: for `known=` of a node.

    Quick: headers and records are read, nothing is hashed, so a load may still find damage.
    ModelError where the file cannot be converted at all.
    """
    found = look(path)
    made: dict[Part, Artifact] = {}
    for source in _sources(found, wanted):
        artifact = build.ready(store, source)
        if artifact is None:
            return None
        made[source.part] = artifact
    return _handles(found, made, embeddings)


def is_converted(store: Store, path: Path, wanted: tuple[Want, ...] = ALL) -> bool:
    """Say quickly whether all that is wanted, and that the file has, is converted."""
    return converted(store, path, wanted) is not None


def fault(store: Store, path: Path, wanted: tuple[Want, ...] = ALL) -> Fault | None:
    """Say what would stop the loading: for `check=` of a node. Reads headers and records only.

    A file that is refused, a part that is wanted and missing, or packages that a conversion
    needs; None where loading will work as far as can be told.
    """
    try:
        found = look(path)
        for want in wanted:
            if _PARTS[want][0] not in found.parts:
                return _lacks(path, want).faults[0]
        for source in _sources(found, wanted):
            missing = None if build.ready(store, source) else build.missing_packages(source)
            if missing:
                return missing
    except ModelError as error:
        return error.faults[0]
    return None


def fingerprint(store: Store, path: Path, wanted: tuple[Want, ...] = ALL) -> str:
    """Give a text that changes where the handles would: for `fingerprint=` of a node.

    Made of names, sizes and times of the files; nothing is opened.
    """
    files = [path, path.with_suffix(".yaml")]
    if path.is_dir():
        kinds = {".json", ".safetensors", ".xml", ".bin", ".npy"}
        files = sorted(file for file in path.rglob("*") if file.suffix in kinds)
    states = [
        f"{file} {state.st_size} {state.st_mtime_ns}"
        for file in files
        if file.is_file() and (state := file.stat())
    ]
    return " ".join([*wanted, f"{build.CONVERTER} {build.VERSION}", *states, str(store.folders)])


def _sources(found: Found, wanted: tuple[Want, ...]) -> Iterator[PartSource]:
    for want in wanted:
        for part in _PARTS[want]:
            if part in found.parts:
                yield found.parts[part]


def _lacks(path: Path, want: Want) -> ModelError:
    return refusal(path, f"there is no {_NAMES[want]} in it", "choose another file")


def _handles(
    found: Found, made: Mapping[Part, Artifact], embeddings: tuple[Path, ...]
) -> Checkpoint:
    named = {part: _part(found, part, artifact) for part, artifact in made.items()}
    model = _model(found, named["unet"]) if "unet" in named else None
    clip, vae = None, None
    if "text_encoder" in named:
        clip = _clip(found, named["text_encoder"], made["text_encoder"], embeddings)
    if "vae_decoder" in named:
        channels = _latent_channels(found)
        encoder = named.get("vae_encoder")
        vae = Vae(named["vae_decoder"], encoder, found.family.name, channels, found.scale)
    return Checkpoint(model, clip, vae)


def _part(found: Found, part: Part, artifact: Artifact) -> ModelPart:
    return artifact.part(f"{found.path.stem} {part.replace('_', ' ')}")


def _model(found: Found, part: ModelPart) -> DiffusionModel:
    config = found.parts["unet"].config
    return DiffusionModel(
        part,
        found.family.name,
        found.prediction,
        found.schedule,
        int(config["in_channels"]),
        int(config.get("out_channels", 4)),
        int(config["cross_attention_dim"]),
        found.scale,
        found.latent_factor,
        found.distilled_steps,
        time_width=time_width(config),
    )


def _clip(found: Found, part: ModelPart, artifact: Artifact, embeddings: tuple[Path, ...]) -> Clip:
    layers, width = len(artifact.record.outputs), artifact.record.inputs[0].shape[-1]
    family, tokens = found.family, artifact.folder / TOKENS
    return Clip(
        part, family.name, tokens, layers, width, family.skip(layers), found.pad, embeddings
    )


def _latent_channels(found: Found) -> int:
    return int(found.parts["vae_decoder"].config.get("latent_channels", 4))
