"""Load the models of Stable Diffusion: one checkpoint with all parts, or each part by itself."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from vinode.converters import model_folders
from vinode.converters.files import Progress
from vinode.converters.stable_diffusion import load
from vinode.converters.stable_diffusion.load import ALL, Checkpoint, Want
from vinode.converters.store import Store
from vinode.graph.context import Context, Folders
from vinode.graph.diffusion import Clip, DiffusionModel, Vae
from vinode.graph.errors import Cancelled, Fault, ModelError, NodeError
from vinode.graph.node import node
from vinode.graph.ports import Choices


class Loaded(NamedTuple):
    """The three models of a checkpoint."""

    model: DiffusionModel
    clip: Clip
    vae: Vae


def _names(kind: str) -> Callable[[Folders], list[str]]:
    return lambda folders: model_folders.model_names(kind, folders)


def _place(kind: str, name: str | None, folders: Folders) -> tuple[Store, Path] | None:
    if name is None:
        return None
    return Store(folders.models), model_folders.find(kind, name, folders)


def _fault(kind: str, name: str | None, folders: Folders, wanted: tuple[Want, ...]) -> Fault | None:
    """Say before the run that a file is missing or no such model."""
    try:
        place = _place(kind, name, folders)
    except ModelError as error:
        return error.faults[0]
    return load.fault(*place, wanted) if place else None


def _mark(kind: str, name: str | None, folders: Folders, wanted: tuple[Want, ...]) -> str | None:
    """Depend on the file's content: another file of the same name is another result."""
    try:
        place = _place(kind, name, folders)
    except ModelError:  # the check says so
        return None
    return load.fingerprint(*place, wanted) if place else None


@contextmanager
def _loading(context: Context) -> Generator[tuple[Progress, Callable[[], bool]]]:
    """Time the work as conversion, tell how far it is, and let it be cancelled."""

    def progress(step: str, done: int, total: int) -> None:
        context.progress(done, max(total, 1))

    def cancelled() -> bool:
        try:
            context.check_cancelled()
        except Cancelled:
            return True
        return False

    with context.phase("convert"):
        yield progress, cancelled


def _checkpoint_fault(ckpt_name: str | None, folders: Folders) -> Fault | None:
    return _fault("checkpoints", ckpt_name, folders, ALL)


def _checkpoint_mark(ckpt_name: str | None, folders: Folders) -> str | None:
    return _mark("checkpoints", ckpt_name, folders, ALL)


def _checkpoint_known(ckpt_name: str | None, folders: Folders) -> Loaded | None:
    place = _place("checkpoints", ckpt_name, folders)
    found = load.converted(*place, embeddings=_inversions(folders)) if place else None
    return _whole(found, "") if found else None


def _inversions(folders: Folders) -> tuple[Path, ...]:
    """Give the folders of textual inversion files, for `embedding:name` in a prompt."""
    return model_folders.roots("embeddings", folders)


def _whole(found: Checkpoint, name: str) -> Loaded:
    if found.model is None or found.clip is None or found.vae is None:
        parts = {"UNet": found.model, "text encoder": found.clip, "VAE": found.vae}
        missing = ", ".join(part for part, handle in parts.items() if handle is None)
        fix = "load its parts with UNETLoader, CLIPLoader and VAELoader"
        raise NodeError(f"the checkpoint has no {missing}", name, fix)
    return Loaded(found.model, found.clip, found.vae)


@node(
    "CheckpointLoaderSimple",
    category="loaders",
    title="Load Checkpoint",
    check=_checkpoint_fault,
    fingerprint=_checkpoint_mark,
    known=_checkpoint_known,
)
def checkpoint_loader_simple(
    context: Context, ckpt_name: Annotated[str, Choices(_names("checkpoints"), closed=False)]
) -> Loaded:
    """Load a Stable Diffusion checkpoint; the first time its parts are converted to OpenVINO IR.

    ckpt_name  a safetensors file, or a folder of diffusers or OpenVINO, in `checkpoints`
    model      draws, for KSampler
    clip       encodes prompts, for CLIPTextEncode
    vae        turns latents into pictures and back
    """
    path = model_folders.find("checkpoints", ckpt_name, context.folders)
    with _loading(context) as (progress, cancelled):
        found = load.load_checkpoint(
            Store(context.folders.models),
            path,
            progress,
            cancelled,
            embeddings=_inversions(context.folders),
        )
    return _whole(found, ckpt_name)


def _model_fault(unet_name: str | None, folders: Folders) -> Fault | None:
    return _fault("unet", unet_name, folders, ("model",))


def _model_mark(unet_name: str | None, folders: Folders) -> str | None:
    return _mark("unet", unet_name, folders, ("model",))


def _model_known(unet_name: str | None, folders: Folders) -> DiffusionModel | None:
    place = _place("unet", unet_name, folders)
    found = load.converted(*place, ("model",)) if place else None
    return found.model if found else None


@node(
    "UNETLoader",
    category="advanced/loaders",
    title="Load Diffusion Model",
    check=_model_fault,
    fingerprint=_model_mark,
    known=_model_known,
)
def unet_loader(
    context: Context,
    unet_name: Annotated[str, Choices(_names("unet"), closed=False)],
    weight_dtype: Literal["default", "fp8_e4m3fn", "fp8_e4m3fn_fast", "fp8_e5m2"] = "default",
) -> DiffusionModel:
    """Load a denoising model by itself.

    unet_name  a file or folder in `unet`
    weight_dtype  kept as ComfyUI names it; weights are float16 here
    """
    path = model_folders.find("unet", unet_name, context.folders)
    with _loading(context) as (progress, cancelled):
        return load.load_unet(Store(context.folders.models), path, progress, cancelled)


def _clip_fault(clip_name: str | None, folders: Folders) -> Fault | None:
    return _fault("clip", clip_name, folders, ("clip",))


def _clip_mark(clip_name: str | None, folders: Folders) -> str | None:
    return _mark("clip", clip_name, folders, ("clip",))


def _clip_known(clip_name: str | None, folders: Folders) -> Clip | None:
    place = _place("clip", clip_name, folders)
    embeddings = _inversions(folders)
    found = load.converted(*place, ("clip",), embeddings) if place else None
    return found.clip if found else None


@node(
    "CLIPLoader",
    category="advanced/loaders",
    title="Load CLIP",
    check=_clip_fault,
    fingerprint=_clip_mark,
    known=_clip_known,
)
def clip_loader(
    context: Context,
    clip_name: Annotated[str, Choices(_names("clip"), closed=False)],
    type: Literal["stable_diffusion"] = "stable_diffusion",
    device: Literal["default", "cpu"] = "default",
) -> Clip:
    """Load a text encoder by itself.

    clip_name  a file or folder in `clip`
    type    the family it belongs to
    device  kept as ComfyUI names it: the hint of CLIPTextEncode places the encoder
    """
    path = model_folders.find("clip", clip_name, context.folders)
    with _loading(context) as (progress, cancelled):
        store, embeddings = Store(context.folders.models), _inversions(context.folders)
        return load.load_clip(store, path, progress, cancelled, embeddings)


def _vae_fault(vae_name: str | None, folders: Folders) -> Fault | None:
    return _fault("vae", vae_name, folders, ("vae",))


def _vae_mark(vae_name: str | None, folders: Folders) -> str | None:
    return _mark("vae", vae_name, folders, ("vae",))


def _vae_known(vae_name: str | None, folders: Folders) -> Vae | None:
    place = _place("vae", vae_name, folders)
    found = load.converted(*place, ("vae",)) if place else None
    return found.vae if found else None


@node(
    "VAELoader",
    category="loaders",
    title="Load VAE",
    check=_vae_fault,
    fingerprint=_vae_mark,
    known=_vae_known,
)
def vae_loader(
    context: Context,
    vae_name: Annotated[str, Choices(_names("vae"), closed=False)],
) -> Vae:
    """Load an autoencoder by itself.

    vae_name  a file or folder in `vae`
    """
    path = model_folders.find("vae", vae_name, context.folders)
    with _loading(context) as (progress, cancelled):
        return load.load_vae(Store(context.folders.models), path, progress, cancelled)
