"""Who may come in: hosts, origins and the token. Pure decisions; guard.py applies them."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from vinode.graph.errors import Fault, VinodeError

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_SHORTEST_TOKEN = 16
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\[\]:/@\s]+))(?::\d{1,5})?")


class DoorError(VinodeError):
    """Options under which the server would stand open."""


@dataclass(frozen=True, slots=True)
class Door:
    """How the server may be reached.

    listen  address it listens on
    token   secret that every request must carry; "" on loopback only
    hosts   further names in `Host` that are this computer's: a name in the home network's DNS
    """

    listen: str = "127.0.0.1"
    token: str = ""
    hosts: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        place = "--token"
        if not self.token and not is_loopback(self.listen):
            problem = f"{self.listen} is reached from other computers, so a token is needed"
            fix = "leave it out to be given one, or listen on 127.0.0.1"
            raise DoorError(Fault(place, problem, fix=fix, code="bad-option"))
        if self.token and (len(self.token) < _SHORTEST_TOKEN or not _is_plain(self.token)):
            problem = f"a token has at least {_SHORTEST_TOKEN} letters of A-Z a-z 0-9 - _ . ~"
            raise DoorError(Fault(place, problem, fix="leave it out to be given one"))

    @property
    def cookie(self) -> str:
        """Give what the cookie holds: made from the token, but not the token itself."""
        return hmac.new(self.token.encode(), b"vinode cookie", hashlib.sha256).hexdigest()

    def host_problem(self, host: str | None) -> str:
        """Say why a request with this `Host` is refused, or "".

        A page of another site can make a browser come here under the page's own name (DNS
        rebinding); then `Host` is that name. An address as a number cannot be rebound.
        """
        name = host_name(host or "")
        if name is None:
            return "the request names no host"
        own = name in LOOPBACK_NAMES or name in self.hosts
        wide = not is_loopback(self.listen)
        if own or (wide and (is_address(name) or name in machine_names())):
            return ""
        return "the request is for another host"

    def knows(self, token: str) -> bool:
        """Say in constant time whether this is the token."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def knows_cookie(self, value: str) -> bool:
        """Say in constant time whether this is the cookie."""
        return hmac.compare_digest(value.encode("utf-8", "replace"), self.cookie.encode())


def _is_plain(token: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9._~-]+", token) is not None


def host_name(host: str) -> str | None:
    """Give the name in a `Host` header, without brackets and port; None where it is none.

    >>> host_name("LocalHost:8188"), host_name("[::1]:80"), host_name("a b")
    ('localhost', '::1', None)
    """
    matched = _HOST.fullmatch(host)
    return (matched[1] or matched[2]).lower().rstrip(".") if matched else None


def is_address(name: str) -> bool:
    """Say whether a name is an address as a number."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


@lru_cache(16)
def is_loopback(listen: str) -> bool:
    """Say whether an address is reached from this computer only."""
    return listen == "localhost" or (
        is_address(listen) and ipaddress.ip_address(listen).is_loopback
    )


def machine_names() -> frozenset[str]:
    """Give the names under which a home network knows this computer."""
    name = socket.gethostname().lower().rstrip(".")
    return frozenset({name, f"{name.split('.')[0]}.local", name.split(".")[0]})


def stranger_problem(method: str, path: str, host: str, headers: Mapping[str, str]) -> str:
    """Say why a request that a browser sent for a page of another site is refused, or "".

    A browser tells where a request comes from: `Origin` on every cross-origin request that can
    change anything and on every socket, `Sec-Fetch-Site` on all. Programs send neither.
    """
    origin = headers.get("Origin")
    if origin is not None and not _is_same(origin, host):
        return "the request comes from a page of another site"
    site = headers.get("Sec-Fetch-Site")
    if site not in (None, "same-origin", "none"):
        # A link to the canvas may stand anywhere: the page that opens is ours.
        opens = method == "GET" and path == "/" and headers.get("Sec-Fetch-Mode") == "navigate"
        if not opens or headers.get("Sec-Fetch-Dest") != "document":
            return "the request comes from a page of another site"
    referer = headers.get("Referer")
    changes = method not in ("GET", "HEAD")
    if origin is None and changes and referer is not None and not _is_same(referer, host):
        return "the request comes from a page of another site"
    return ""


def sent_by_browser(headers: Mapping[str, str]) -> bool:
    """Say whether a request shows marks that only browsers leave."""
    return any(name in headers for name in ("Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode"))


def _is_same(url: str, host: str) -> bool:
    """Compare host and port of a URL with `Host`; `null` is nobody's."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https"):
        return False
    return _with_port(parts.netloc, parts.scheme) == _with_port(host, parts.scheme)


def _with_port(netloc: str, scheme: str) -> str:
    bare = netloc.lower().rpartition("@")[2]
    has_port = re.search(r":\d+$", bare) is not None
    return bare if has_port else f"{bare}:{443 if scheme == 'https' else 80}"
