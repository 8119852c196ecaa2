"""`vinode serve`: the canvas, and ComfyUI's API, on this computer."""

from __future__ import annotations

import asyncio
import functools
import gc
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import click
import platformdirs

from vinode import __version__
from vinode.cli import OK, places, reader_may_leave
from vinode.cli.pools import PoolOptions, compile_seconds, compiled_folder, pool_options
from vinode.converters.files import Watch
from vinode.converters.npu_compiler.find import find
from vinode.graph.context import Folders
from vinode.graph.errors import Fault, WorkflowError
from vinode.graph.graph import Graph
from vinode.graph.plugins import drop_in_folders
from vinode.graph.presets import read_hints
from vinode.graph.strict_json import Json
from vinode.web.app import maker
from vinode.web.door import Door, is_loopback
from vinode.web.serving import serve, stand
from vinode.web.settings import Limits, Settings, WorkerSettings

PORT = 8188  # ComfyUI's, which its clients take for granted
_GIB = 2**30

folder = functools.partial(click.Path, path_type=Path, file_okay=False)


@click.command(name="serve")
@click.option("--listen", "host", default="127.0.0.1", metavar="HOST", help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True)
@click.option(
    "--token",
    default="",
    envvar="VINODE_TOKEN",
    help="Secret that every request must show; made where others can reach the server.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="Name by which others reach this computer, where it is not its own.",
)
@click.option("--input", "input", type=folder(), help="Folder of pictures to use.")
@click.option("--output", type=folder(), help="Folder for results: ./output.")
@click.option(
    "--device", default="AUTO", metavar="HINT|PRESET", help="Where nodes without a hint run."
)
@click.option(
    "--memory-limit",
    type=click.FloatRange(0),
    metavar="GIB",
    help="Start the worker anew where it holds more between two runs: 3/4 of the memory. 0: never.",
)
@click.option("--state", type=folder(), help="Folder of queue, history and settings.")
@pool_options
@places.models_option
@places.nodes_option
def command(
    host: str,
    port: int,
    token: str,
    names: Sequence[str],
    input: Path | None,
    output: Path | None,
    device: str,
    memory_limit: float | None,
    state: Path | None,
    devices: PoolOptions,
    models: Sequence[Path],
    nodes: Sequence[Path],
) -> int:
    """Serve the canvas and ComfyUI's API, to this computer only unless --listen says otherwise."""
    read_hints(device, "--device")
    if not token and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    own = places.data_folder()
    folders = Folders(
        input=(input or own / "input").absolute(),
        output=(output or Path("output")).absolute(),
        temp=platformdirs.user_cache_path("vinode", appauthor=False) / "temp",
        models=tuple(path.absolute() for path in places.model_folders(models)),
    )
    worker = _worker_settings(folders, _packs(nodes), device, devices)
    limits = Limits(memory=_memory(memory_limit))
    settings = Settings(worker, state or own / "server", host, port, token, limits)
    Door(host, token, frozenset(names))  # refuses what would stand open, before anything is begun
    make_app = maker(settings, names, _ask_npu_compiler)
    with stand(settings) as standing:
        gc.freeze()  # what is imported stays: it need not be looked through again and again
        asyncio.run(serve(settings, standing, make_app, _tell(standing.url, token)))
    return OK


def _packs(nodes: Sequence[Path]) -> tuple[Path, ...]:
    for path in nodes:
        if not path.exists():
            raise WorkflowError(Fault("--nodes", "no such folder", str(path), code="file-missing"))
    return tuple(path.absolute() for path in drop_in_folders(nodes))


def _worker_settings(
    folders: Folders, packs: tuple[Path, ...], device: str, options: PoolOptions
) -> WorkerSettings:
    return WorkerSettings(
        folders,
        packs,
        device,
        compiled_folder(folders),
        options.seconds,
        options.accept_wrong,
        _simulation(options),
    )


def _simulation(options: PoolOptions) -> dict[str, Json] | None:
    given = options.simulation
    return None if given is None else {**asdict(given), "refused": sorted(given.refused)}


def _memory(given: float | None) -> int:
    if given is not None:
        return round(given * _GIB)
    import psutil

    return int(psutil.virtual_memory().total * 3 // 4)


def _ask_npu_compiler(graph: Graph, folders: Folders, platforms: list[str]) -> Json:
    """Ask whether a workflow would run on NPUs; what stands in the way is a VinodeError."""
    from vinode.cli import preflight  # rarely asked, and much to import

    compiler = find(places.data_folder())
    watch = Watch()
    outlooks = preflight.look(graph, folders, compiler, platforms, compile_seconds(), watch)
    return [preflight.told(outlook) for outlook in outlooks]


def _tell(url: str, token: str) -> Callable[[str], None]:
    def tell(note: str) -> None:
        shown = f"{url}/?token={token}" if token else url
        with reader_may_leave():
            click.echo(f"vinode {__version__} serves {shown} (Ctrl-C ends it)")
            if note:
                click.echo(f"warning: {note}", err=True)

    return tell
