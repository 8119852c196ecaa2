"""The command line: `vinode run | check | compare | bench | nodes | models | convert | doctor`.

Exit codes: 0 done, 1 a node failed, 2 the input is wrong, 130 cancelled.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import NoReturn

import click

from vinode import __version__
from vinode.graph.errors import Cancelled, VinodeError

OK, NODE_FAILED, INPUT_WRONG, CANCELLED = 0, 1, 2, 130

# Each is a module of this package with a click command named `command`. They are imported when
# called: `vinode run` must not wait for what `vinode models` needs.
COMMANDS = {
    "run": "Run a workflow.",
    "check": "Tell all that is wrong with a workflow, without running it.",
    "compare": "Tell what got slower between two reports.",
    "bench": "Measure a workflow on several devices, and say whether an accelerator pays.",
    "nodes": "List nodes, show one, start a pack.",
    "models": "List, add, pull, remove and verify models.",
    "convert": "Convert a model file to OpenVINO IR.",
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
            return None
        command: click.Command = importlib.import_module(f"vinode.cli.{cmd_name}").command
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
    sys.exit(call(sys.argv[1:]))


def call(arguments: list[str]) -> int:
    """Run one command and give its exit code."""
    try:
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
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain again when it closes the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        click.echo(f"{error.filename or 'file'}: {error.strerror or error}", err=True)
        return INPUT_WRONG
    return result if isinstance(result, int) else OK
