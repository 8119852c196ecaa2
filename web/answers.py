"""What every route answers with: JSON, nothing, or a refusal of one sentence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from aiohttp import web

from vinode.graph.errors import Fault
from vinode.graph.strict_json import Json

_MOST = 100  # faults told in one answer
_write = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode  # made once: it is dear


def dump(value: Json) -> str:
    """Write JSON in the fewest bytes; whole numbers stay exact, however large."""
    return _write(value)


def answer(value: Json, status: int = 200) -> web.Response:
    """Answer with a JSON value."""
    return web.Response(text=dump(value), status=status, content_type="application/json")


def raw_json(body: str | bytes, headers: Mapping[str, str] | None = None) -> web.Response:
    """Answer with JSON that is written already."""
    content = body.encode("utf-8", "backslashreplace") if isinstance(body, str) else body
    return web.Response(body=content, content_type="application/json", headers=headers)


def done(status: int = 200) -> web.Response:
    """Answer that it is done, with no body."""
    return web.Response(status=status)


def refusal(status: int, faults: Iterable[Fault]) -> web.Response:
    """Refuse a request: `error` is one sentence for people, `faults` the same in parts."""
    found = list(faults)
    more = f"; and {len(found) - 1} more" if len(found) > 1 else ""
    told = [asdict(fault) for fault in found[:_MOST]]
    return answer({"error": f"{found[0]}{more}", "faults": told}, status)


def refuse(
    status: int, place: str, problem: str, got: str = "", fix: str = "", code: str = "bad-request"
) -> web.Response:
    """Refuse a request for one reason."""
    return refusal(status, [Fault(place, problem, got, fix, code)])
