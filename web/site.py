"""What the routes of one server share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from vinode.graph.context import Folders
from vinode.graph.graph import Graph
from vinode.graph.strict_json import Json
from vinode.web.catalogue import Catalogue
from vinode.web.model_jobs import ModelJobs
from vinode.web.prompts import Checking
from vinode.web.routes import Route
from vinode.web.settings import Settings
from vinode.web.sockets import Sockets
from vinode.web.supervisor import Supervisor
from vinode.web.user_files import UserFiles

MAX_UPLOAD = 100 * 2**20
FEATURES: Mapping[str, Json] = {
    "supports_preview_metadata": True,
    "max_upload_size": MAX_UPLOAD,
    "node_replacements": False,
    "assets": False,
    "extension": {"manager": {"supports_v4": False}},
    "vinode": {"timing": True, "placement": True, "delta_progress": True},
}
Preflight = Callable[[Graph, Folders, list[str]], Json]


@dataclass(frozen=True, slots=True)
class Site:
    """The parts of a running server.

    routes     all that is described
    preflight  asks the NPU's compiler about a graph: (graph, folders, platforms) -> JSON, or raises
               ModelError; None where this server cannot ask
    """

    settings: Settings
    supervisor: Supervisor
    catalogue: Catalogue
    sockets: Sockets
    checking: Checking
    user: UserFiles
    models: ModelJobs
    static: Path
    routes: tuple[Route, ...]
    preflight: Preflight | None = None

    @property
    def folders(self) -> Folders:
        """Give the folders that runs read and write."""
        return self.settings.worker.folders


SITE = web.AppKey("site", Site)


def site_of(request: web.Request) -> Site:
    """Give the server's parts to a route."""
    return request.app[SITE]
