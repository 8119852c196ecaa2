"""What loader nodes call: a file or folder -> handles, converted where that is not done yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from vinode.converters.files import Progress, never, quiet
from vinode.converters.store import Store
from vinode.graph.diffusion import Clip, DiffusionModel, Vae
from vinode.graph.errors import Fault

Want: TypeAlias = Literal["model", "clip", "vae"]
ALL: tuple[Want, ...] = ("model", "clip", "vae")


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
) -> Checkpoint:
    """Give a checkpoint's handles, converting what is not converted yet and asked for."""
    raise NotImplementedError


def load_unet(
    store: Store, path: Path, progress: Progress = quiet, cancelled: Callable[[], bool] = never
) -> DiffusionModel:
    """Give the denoising model of a file or folder."""
    raise NotImplementedError


def load_clip(
    store: Store,
    path: Path,
    progress: Progress = quiet,
    cancelled: Callable[[], bool] = never,
    embeddings: tuple[Path, ...] = (),
) -> Clip:
    """Give the text encoder of a file or folder."""
    raise NotImplementedError


def load_vae(
    store: Store, path: Path, progress: Progress = quiet, cancelled: Callable[[], bool] = never
) -> Vae:
    """Give the autoencoder of a file or folder."""
    raise NotImplementedError


def converted(store: Store, path: Path, wanted: tuple[Want, ...] = ALL) -> Checkpoint | None:
    """Give the handles where all is converted, else None. Quick: for `known=` of a node."""
    raise NotImplementedError


def is_converted(store: Store, path: Path, wanted: tuple[Want, ...] = ALL) -> bool:
    """Say quickly whether all that is wanted is converted; nothing is hashed."""
    raise NotImplementedError


def fault(store: Store, path: Path, wanted: tuple[Want, ...] = ALL) -> Fault | None:
    """Say what would stop the loading: for `check=` of a node. Reads headers only."""
    raise NotImplementedError


def fingerprint(store: Store, path: Path, wanted: tuple[Want, ...] = ALL) -> str:
    """Give a text that changes where the handles would: for `fingerprint=` of a node."""
    raise NotImplementedError
