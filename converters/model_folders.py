"""Where model files are: the folders that ComfyUI keeps them in, by kind of model.

Below each model folder stand `checkpoints/`, `vae/`, ... An `extra_model_paths.yaml` in a model
folder, or beside it, names more of them, as ComfyUI reads it:

    any name:
        base_path: /where/they/are
        checkpoints: models/Stable-diffusion
        loras: |
            models/Lora
            models/LyCORIS
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, cast

from vinode.graph.context import Folders
from vinode.graph.errors import Fault, ModelError, nearest, short

BUILT_IN = Path(__file__).with_name("built_in")  # models that come with the program
EXTRA = "extra_model_paths.yaml"
# Kind -> names of its folders; a kind may be asked for by any of them.
KINDS: Mapping[str, tuple[str, ...]] = {
    "checkpoints": ("checkpoints",),
    "vae": ("vae",),
    "text_encoders": ("text_encoders", "clip"),
    "diffusion_models": ("diffusion_models", "unet"),
    "embeddings": ("embeddings",),
    "loras": ("loras",),
    "controlnet": ("controlnet", "t2i_adapter"),
    "upscale_models": ("upscale_models",),
    "clip_vision": ("clip_vision",),
    "diffusers": ("diffusers",),
}
# Whole pipelines of diffusers may lie in either.
_ALSO: Mapping[str, tuple[str, ...]] = {"checkpoints": ("diffusers",)}
FILES = (".safetensors",)
MARKS = ("model_index.json", "openvino/unet/record.json")  # of a folder that is one model
MOST = 20_000  # files below one folder: more is no model folder but a whole disk
EXTRA_BYTES = 1_000_000


def roots(kind: str, folders: Folders) -> tuple[Path, ...]:
    """Give the folders that models of a kind are in, in order; those that exist."""
    names = _names_of(kind)
    found = [models / name for models in folders.models for name in names]
    for file in _extra_files(folders):
        found += _extra_roots(file, names)
    found += [BUILT_IN / name for name in names]
    there = dict.fromkeys(path for path in found if path.is_dir())
    return tuple(there)


def model_names(kind: str, folders: Folders) -> list[str]:
    """List the models of a kind, sorted: paths below their folder with `/`."""
    return sorted({name for root in roots(kind, folders) for name, _ in _models(root)})


def checkpoint_names(folders: Folders) -> list[str]:
    """List the checkpoints: safetensors files, and folders of diffusers or of IR."""
    return model_names("checkpoints", folders)


def find(kind: str, name: str, folders: Folders) -> Path:
    """Find a model by its name; ModelError with the nearest name where there is none.

    The first folder that has it wins. A name cannot lead out of the folders; a link that their
    owner put into them may, often to another disk. Files that are not listed are found too, so
    that opening them says why they are refused.
    """
    known = roots(kind, folders)
    plain = PurePosixPath(name.replace("\\", "/"))
    if not plain.parts or plain.is_absolute() or ".." in plain.parts or ":" in plain.parts[0]:
        fix = "give the name as the list shows it"
        raise ModelError(Fault(kind, "not a name of a model", short(name), fix, "model-unknown"))
    for root in known:
        path = root.joinpath(*plain.parts)
        if os.path.exists(path):  # says no to names too long or odd for the system; Path raises
            return path
    names = model_names(kind, folders)
    close = nearest(name, names)
    where = ", ".join(map(str, known)) or str(folders.models[0] / _names_of(kind)[0])
    fix = f"did you mean {close!r}?" if close else f"put it into {where}"
    problem = f"there is no such file in {where}"
    raise ModelError(Fault(kind, problem, short(name), fix, code="model-unknown"))


def _names_of(kind: str) -> tuple[str, ...]:
    for key, names in KINDS.items():
        if kind in names:
            return names + _ALSO.get(key, ())
    close = nearest(kind, KINDS)
    fix = f"did you mean {close!r}?" if close else f"known: {', '.join(KINDS)}"
    raise ModelError(Fault("model folders", "unknown kind of model", short(kind), fix))


def _models(root: Path) -> Iterator[tuple[str, Path]]:
    """Go through the models below a folder; a folder that is one model is not looked into."""
    waiting, seen, files = [root], {root.resolve()}, 0
    while waiting:
        folder = waiting.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:  # not readable, or gone: the others are still there
            continue
        for entry in entries:
            files += 1
            path = Path(entry.path)
            if files > MOST:
                return
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                real = path.resolve()
                if any((path / mark).is_file() for mark in MARKS):
                    yield path.relative_to(root).as_posix(), path
                elif real not in seen:  # a link may lead back to where we came from
                    seen.add(real)
                    waiting.append(path)
            elif path.suffix.lower() in FILES:
                yield path.relative_to(root).as_posix(), path


def _extra_files(folders: Folders) -> Iterator[Path]:
    for models in folders.models:
        for place in (models / EXTRA, models.parent / EXTRA):
            if place.is_file():
                yield place


def _extra_roots(file: Path, names: Sequence[str]) -> Iterator[Path]:
    """Give the folders that an extra_model_paths.yaml names for a kind."""
    for section in _sections(file).values():
        base = file.parent
        if section.get("base_path"):
            base /= os.path.expandvars(Path(str(section["base_path"])).expanduser())
        for name in names:
            for line in str(section.get(name) or "").splitlines():
                if line.strip():
                    yield Path(os.path.normpath(base / Path(line.strip()).expanduser()))


def _sections(file: Path) -> Mapping[str, Mapping[str, Any]]:
    import yaml

    def refused(problem: str, got: object = "") -> ModelError:
        fix = "see the example that comes with ComfyUI, or remove the file"
        return ModelError(Fault(str(file), problem, str(got), fix, code="model-folders"))

    try:
        if file.stat().st_size > EXTRA_BYTES:
            raise refused("the file is too large for a list of folders")
        plain = cast(object, yaml.safe_load(file.read_text(encoding="utf-8-sig")))
    except (OSError, UnicodeError) as error:
        raise refused("the file cannot be read", error) from error
    except (yaml.YAMLError, RecursionError) as error:
        lines = str(error).splitlines()
        raise refused("the file is no YAML", lines[-1].strip() if lines else "") from error
    if plain is None:
        return {}
    rows = cast(dict[str, object], plain) if isinstance(plain, dict) else {"": plain}
    for row in rows.values():
        if not isinstance(row, dict):
            raise refused("the file is not made of sections with folders", short(row))
    return cast(dict[str, dict[str, Any]], rows)
