"""`vinode compare`: two saved reports, and what got slower between them."""

from __future__ import annotations

import json
from pathlib import Path

import click

from vinode.cli import OK
from vinode.graph.compare import compare, remarks, to_json
from vinode.graph.errors import Fault, WorkflowError
from vinode.graph.saved_report import SavedReport, read_report
from vinode.graph.workflow import MAX_BYTES


@click.command(name="compare")
@click.argument("before", type=click.Path(path_type=Path), metavar="A.json")
@click.argument("after", type=click.Path(path_type=Path), metavar="B.json")
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
def command(before: Path, after: Path, as_json: bool) -> int:
    """Tell what got slower from report A to report B: the run, each node, each phase.

    `vinode run FILE --report A.json` writes a report.
    """
    found = compare(_read(before), _read(after))
    if as_json:
        click.echo(json.dumps(to_json(found), indent=1))
        return OK
    from vinode.cli.compare_tables import print_comparison  # imports rich, which JSON does without

    print_comparison(found, remarks(found), f"{before.name}, then {after.name}")
    return OK


def _read(path: Path) -> SavedReport:
    name = str(path)
    try:
        with path.open("rb") as file:  # a pipe has no size to ask for, so a read is what is bounded
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        fix = "`vinode run FILE --report REPORT.json` writes one"
        raise WorkflowError(Fault(name, "no such file", fix=fix, code="file-missing")) from None
    except OSError as error:
        fault = Fault(name, f"cannot be read: {error.strerror}", code="file-unreadable")
        raise WorkflowError(fault) from None
    if len(content) > MAX_BYTES:
        problem = f"a report has at most {MAX_BYTES // 2**20} MB"
        raise WorkflowError(Fault(name, problem, code="too-large"))
    return read_report(content, name)
