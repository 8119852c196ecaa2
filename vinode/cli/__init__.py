"""The command line: `vinode run | serve | check | fix | compare | bench | nodes | models | ...`.

Exit codes: 0 done, 1 a node failed, 2 the input is wrong, 130 cancelled.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

import click

from vinode import __version__
from vinode.graph.errors import Cancelled, VinodeError, nearest, short

OK, NODE_FAILED, INPUT_WRONG, CANCELLED = 0, 1, 2, 130

# Each is a module of this package, with _ for -, that has a click command named `command`. They are
# imported when called: `vinode run` must not wait for what `vinode models` needs.
COMMANDS = {
    "run": "Run a workflow.",
    "serve": "Serve the canvas, and ComfyUI's API, on this computer.",
    "check": "Tell all that is wrong with a workflow, without running it.",
    "compare": "Tell what got slower between two reports.",
    "bench": "Measure a workflow on several devices, and say whether an accelerator pays.",
    "fix": "Change a workflow so that its nodes run where they should.",
    "nodes": "List nodes, show one, start a pack.",
    "models": "List, add, pull, remove and verify models.",
    "convert": "Convert a model file to OpenVINO IR.",
    "npu-compiler": "Set up Intel's NPU compiler, so that `check` can ask it without an NPU.",
    "doctor": "Tell what is here, what is missing, and what to do about it.",
}


class Commands(click.Group):
    """Finds a command's module by its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            close = nearest(cmd_name, COMMANDS)
            guess = f"did you mean `vinode {close}`?" if close else "`vinode --help` lists them"
            ctx.fail(f"there is no command {short(cmd_name)}; {guess}")
        module = cmd_name.replace("-", "_")
        command: click.Command = importlib.import_module(f"vinode.cli.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands)
@click.version_option(__version__, prog_name="vinode")
def program() -> None:
    """Image pipelines as OpenVINO IR on CPU, GPU and NPU, and the truth about where they ran."""


def main() -> NoReturn:
    """Run the command line; what it cannot do is one sentence a fault on standard error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A pipe on Windows knows fewer letters than names have.
            stream.reconfigure(errors="backslashreplace")
    code = call(sys.argv[1:])
    if code == CANCELLED and threading.active_count() > 1:
        # A node that does not ask whether it is cancelled would hold the process for as long.
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


@contextmanager
def reader_may_leave() -> Generator[None]:
    """Write to standard output; that whoever reads it has gone is no failure of ours."""
    try:
        yield
    except SystemExit:  # so click and rich answer a closed pipe, the one that raises it here
        _write_to_nobody()
    except OSError as error:
        # EINVAL is Windows' closed pipe, and also its bad file name.
        if error.errno not in (errno.EPIPE, errno.EINVAL) or error.filename is not None:
            raise
        _write_to_nobody()


def _write_to_nobody() -> None:
    # Python would complain again when it closes the pipe.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def call(arguments: list[str]) -> int:
    """Run one command and give its exit code."""
    result: object = OK
    try:
        with reader_may_leave():
            result = program.main(arguments, prog_name="vinode", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return INPUT_WRONG
    except VinodeError as error:
        click.echo(str(error), err=True)
        return INPUT_WRONG
    except (Cancelled, click.Abort, KeyboardInterrupt):
        click.echo("cancelled", err=True)
        return CANCELLED
    except OSError as error:
        click.echo(f"{error.filename or 'output'}: {error.strerror or error}", err=True)
        return INPUT_WRONG
    except MemoryError:
        click.echo("memory ran out; close other programs, or give less at once", err=True)
        return INPUT_WRONG
    return result if isinstance(result, int) else OK
