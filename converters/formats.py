"""Which format a model file has, told by its content: a name proves nothing.

Opened are TFLite, ONNX, OpenVINO IR and safetensors. Python pickles (.ckpt, .pt, .pth, .pkl, .bin)
run whatever program their author put inside, so they are refused whatever they are called.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias, cast

from vinode.converters import onnx_file
from vinode.converters.files import disk_errors
from vinode.graph.errors import Fault, ModelError, short

Format: TypeAlias = Literal["tflite", "onnx", "ir", "safetensors"]

ACCEPTED = "give a TFLite, ONNX, OpenVINO IR (.xml with its .bin) or safetensors file"
HEADER_LIMIT = 100_000_000  # bytes of a safetensors header, as its own specification limits it
PICKLE_SUFFIXES = (".ckpt", ".pt", ".pth", ".pkl", ".pickle")
PICKLE_REASON = "a Python pickle: opening it can run any program"


def recognise(path: Path) -> Format:
    """Tell the format of a model file; ModelError in one sentence where it is none we open."""
    with disk_errors(path):
        if path.is_dir():
            raise refusal(path, "a folder is no model file", ACCEPTED)
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(512)
            if not head:
                raise refusal(path, "the file is empty", "download it again")
            if _looks_like_safetensors(head):
                _check_safetensors(path, file, size)
                return "safetensors"
            _refuse_known_others(path, head)
            if head[4:8] == b"TFL3":
                return "tflite"
            if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<?xml", b"<net")):
                _check_ir(path)
                return "ir"
            if head[0] == 0x08:  # field 1 of an ONNX file: the version of its format
                _check_onnx(path, file, size)
                return "onnx"
    raise refusal(path, "the content is no model format that can be opened", ACCEPTED)


def companions(path: Path, format: Format) -> tuple[str, ...]:
    """Name the files beside a recognised one that belong to it: weights that it only names."""
    if format == "ir":
        return (path.with_suffix(".bin").name,)
    return tuple(sorted(onnx_file.external_files(path))) if format == "onnx" else ()


def refusal(path: Path, problem: str, fix: str = "") -> ModelError:
    """Build the error for a file that is not opened."""
    return ModelError(Fault(str(path), problem, fix=fix, code="model-refused"))


def _refuse_known_others(path: Path, head: bytes) -> None:
    text = head.lstrip().lower()
    if text.startswith((b"<!doctype", b"<html")):
        raise refusal(path, "this is a web page, not a model", "download the file itself")
    if head.startswith(b"version https://git-lfs"):
        raise refusal(path, "this is a Git LFS pointer, not the model", "run `git lfs pull`")
    if _is_pickle(path, head):
        fix = "save the model as safetensors or ONNX, or find it in that form"
        raise refusal(path, PICKLE_REASON, fix)
    for magic, name in ((b"GGUF", "GGUF"), (b"\x89HDF", "HDF5"), (b"PK\x03\x04", "a zip archive")):
        if head.startswith(magic):
            raise refusal(path, f"{name} is not opened", ACCEPTED)


def _is_pickle(path: Path, head: bytes) -> bool:
    if head[0] == 0x80 and len(head) > 1 and 2 <= head[1] <= 5:
        return True
    if head.startswith(b"PK\x03\x04"):
        try:
            with zipfile.ZipFile(path) as archive:
                return any(name.endswith(".pkl") for name in archive.namelist())
        except (zipfile.BadZipFile, NotImplementedError):
            return path.suffix.lower() in PICKLE_SUFFIXES
    # Pickles of the first protocols have no mark of their own, so there the name decides.
    return path.suffix.lower() in PICKLE_SUFFIXES and head[4:8] != b"TFL3" and head[0] != 0x08


def _looks_like_safetensors(head: bytes) -> bool:
    return len(head) > 8 and head[8:9] == b"{" and 2 <= _header_bytes(head) <= HEADER_LIMIT


def _header_bytes(head: bytes) -> int:
    return int.from_bytes(head[:8], "little")


def _check_safetensors(path: Path, file: BinaryIO, size: int) -> None:
    file.seek(0)
    length = _header_bytes(file.read(8))
    cut = refusal(path, "the safetensors file is cut off or damaged", "download it again")
    if 8 + length > size:
        raise cut
    try:
        header = cast(object, json.loads(file.read(length)))
        if not isinstance(header, dict):
            raise cut
        tensors = cast(dict[str, dict[str, list[int]]], header)
        ends = [row["data_offsets"][1] for name, row in tensors.items() if name != "__metadata__"]
        whole = 8 + length + max(ends, default=0) == size
    except (ValueError, RecursionError, KeyError, IndexError, TypeError) as error:
        raise cut from error
    if not whole:
        raise cut


def _check_ir(path: Path) -> None:
    with path.open("rb") as file:
        start = file.read(4096)
        file.seek(max(0, path.stat().st_size - 4096))
        end = file.read()
    if b"<net" not in start:
        raise refusal(path, "this XML file is no OpenVINO IR", ACCEPTED)
    if not end.rstrip().endswith(b"</net>"):
        raise refusal(path, "the IR is cut off", "copy it again")
    if not path.with_suffix(".bin").is_file():
        fix = f"put {path.with_suffix('.bin').name} beside it"
        raise refusal(path, "the IR's weights are missing", fix)


def _check_onnx(path: Path, file: BinaryIO, size: int) -> None:
    if not onnx_file.is_whole(file, size):
        raise refusal(path, "the ONNX file is cut off or damaged", "download it again")
    try:
        names = onnx_file.external_files(path)
    except ValueError as error:
        raise refusal(path, "the ONNX file is damaged", "download it again") from error
    for name in sorted(names):
        if Path(name).name != name or not name.strip(". "):
            problem = f"its weights are in another folder: {short(name)}"
            raise refusal(path, problem, "save the model as one file")
        if not path.with_name(name).is_file():
            raise refusal(path, "the model's weights are missing", f"put {name} beside it")
