"""Applies the door to every request, and gives every answer the headers that keep it safe."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import quote

from aiohttp import web
from aiohttp.typedefs import Middleware

from vinode.graph.errors import Fault, VinodeError
from vinode.web.answers import refusal, refuse
from vinode.web.bodies import BadRequest
from vinode.web.door import Door, sent_by_browser, stranger_problem

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_LOG = logging.getLogger("vinode.web")
_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Server": "vinode",
}
MOST_LARGE = 16  # bodies that are read or looked at at once
_LARGE = 2**20  # bytes
_LOGIN = """<!doctype html><html lang="en"><meta charset="utf-8"><title>vinode</title>
<p>This vinode asks for its token. It stands in the terminal in which the server was started.</p>
<form action="/" method="get"><label>Token <input name="token" type="password"
autocomplete="current-password"></label> <button>Open</button></form></html>
"""
_FIX_HOST = "open the address that the server printed, or start it with --name HOST"


def cookie_name(request: web.Request) -> str:
    """Name the cookie: by port, for a browser sends a host's cookies to all of its ports."""
    port = request.url.port or 0
    return f"vinode_{port}"


def guard(door: Door) -> Middleware:
    """Make the middleware that every request passes first."""

    large: set[int] = set()

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        refused = _refused(request, door)
        if refused is not None:
            return refused
        if door.token:
            asked = await _ask_token(request, door)
            if asked is not None:
                return asked
        if not _may_be_large(request):
            return await handler(request)
        if len(large) >= MOST_LARGE:
            problem = f"{MOST_LARGE} large requests are read already"
            answer = refuse(503, "body", problem, fix="try again in a moment", code="busy")
            answer.force_close()  # what is sent meanwhile is not read
            return answer
        large.add(id(request))
        try:
            return await handler(request)
        finally:
            large.discard(id(request))

    return check


def _may_be_large(request: web.Request) -> bool:
    """Say whether a body may need much memory: it says so, or does not say how long it is."""
    length = request.content_length
    return request.body_exists and (length is None or length > _LARGE)


def _refused(request: web.Request, door: Door) -> web.Response | None:
    host = request.headers.get("Host")
    problem = door.host_problem(host)
    if problem:
        return refuse(403, "Host", problem, (host or "")[:80], _FIX_HOST, "wrong-host")
    if len(request.headers.getall("Host")) > 1:
        return refuse(400, "Host", "it stands there twice", code="wrong-host")
    problem = stranger_problem(request.method, request.path, host or "", request.headers)
    if problem:
        fix = "use vinode's own page, or a program that is no browser"
        return refuse(403, "Origin", problem, fix=fix, code="cross-origin")
    encoding = request.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        fix = "send it as it is"
        return refuse(415, "Content-Encoding", "bodies are not unpacked", encoding[:40], fix)
    if request.method in ("POST", "PUT", "PATCH") and sent_by_browser(request.headers):
        # A form of another site can send only these three; ours sends JSON or a file.
        simple = ("text/plain", "application/x-www-form-urlencoded")
        if request.body_exists and request.content_type in simple:
            fix = "send application/json"
            return refuse(415, "Content-Type", "a page may not send this", fix=fix)
    return None


async def _ask_token(request: web.Request, door: Door) -> web.StreamResponse | None:
    """Let in who has the token; else give the answer that asks for it."""
    if request.path == "/" and request.method == "GET" and "token" in request.query:
        if door.knows(request.query["token"]):
            return _welcome(request, door)
        await asyncio.sleep(0.5)  # guessing takes long enough as it is; this keeps the log short
        return _login(403)
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and door.knows(given.strip()):
        return None
    if door.knows_cookie(request.cookies.get(cookie_name(request), "")):
        return None
    if request.path == "/" and request.method == "GET":
        return _login(401)
    fix = "send the header `Authorization: Bearer TOKEN`, or log in at /?token=TOKEN"
    answer = refuse(401, "token", "this server asks for its token", fix=fix, code="no-token")
    answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def _welcome(request: web.Request, door: Door) -> web.Response:
    """Keep the token in a cookie that no script can read, and take it out of the address."""
    onward = {name: text for name, text in request.query.items() if name != "token"}
    query = "&".join(f"{quote(name)}={quote(text)}" for name, text in onward.items())
    answer = web.Response(status=303, headers={"Location": f"/?{query}" if query else "/"})
    answer.set_cookie(
        cookie_name(request),
        door.cookie,
        httponly=True,
        # Lax: who comes by a link in a message is logged in too; what changes anything asks Origin.
        samesite="Lax",
        secure=request.secure,
        max_age=365 * 24 * 3600,
        path="/",
    )
    return answer


def _login(status: int) -> web.Response:
    return web.Response(text=_LOGIN, status=status, content_type="text/html")


@web.middleware
async def faults_as_answers(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn what a route refuses into an answer of one sentence."""
    try:
        return await handler(request)
    except BadRequest as error:
        answer = refusal(error.status, error.faults)
        if error.status == 413:
            answer.force_close()  # what is left of the body is not read
        return answer
    except VinodeError as error:
        return refusal(status_of(error.faults[0]), error.faults)
    except web.HTTPException as error:
        if error.status < 400 or error.status == 426:
            raise
        return _plain_refusal(request, error)
    except ConnectionError:
        raise  # the client has gone
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        problem = "the disk is full" if full else f"the disk refuses: {error.strerror or error}"
        return refuse(507 if full else 500, request.path[:200], problem, code="disk")
    except Exception as error:  # the server's border: a mistake of ours ends here, and is logged
        _LOG.exception("%s %s", request.method, request.path[:200])
        problem = f"the server made a mistake: {type(error).__name__}"
        return refuse(500, request.path[:200], problem, fix="see its log", code="internal")


def status_of(fault: Fault) -> int:
    """Give the HTTP status of a fault."""
    by_code = {
        "compiler-missing": 501,
        "disk-full": 507,
        "file-missing": 404,
        "id-taken": 409,
        "queue": 503,
        "queue-full": 503,
    }
    return by_code.get(fault.code, 400)


def _plain_refusal(request: web.Request, error: web.HTTPException) -> web.Response:
    said = {404: "there is no such page", 405: f"it does not take {request.method}"}
    answer = refuse(error.status, request.path[:200], said.get(error.status, error.reason))
    if "Allow" in error.headers:
        answer.headers["Allow"] = error.headers["Allow"]
    return answer


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add the safe headers to an answer that is about to be sent, a refusal too."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value) if name != "Server" else None
    response.headers["Server"] = "vinode"
    response.headers.setdefault("Cache-Control", "no-store")
