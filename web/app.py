"""The application: routes, guard and sockets around a queue and its worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path

from aiohttp import web

from vinode.graph.plugins import load_packs
from vinode.web import comfy_routes, vinode_routes
from vinode.web.bodies import MAX_JSON
from vinode.web.catalogue import Catalogue
from vinode.web.door import Door
from vinode.web.front_page import STATIC, index, static_file
from vinode.web.guard import add_headers, faults_as_answers, guard
from vinode.web.model_jobs import ModelJobs
from vinode.web.prompts import Checking
from vinode.web.routes import Route, register
from vinode.web.settings import Settings
from vinode.web.site import FEATURES, SITE, Preflight, Site
from vinode.web.sockets import Sockets
from vinode.web.supervisor import Supervisor
from vinode.web.told import Told
from vinode.web.user_files import UserFiles

PAGE = Route("GET", "/", index, "Give the canvas.", gives="page")
FILES = Route("GET", "/{name:.+}", static_file, "Give a file of the canvas.", gives="file")


def maker(
    settings: Settings,
    hosts: Sequence[str] = (),
    preflight: Preflight | None = None,
    static: Path = STATIC,
) -> Callable[[Supervisor], Awaitable[web.Application]]:
    """Give what makes the application around a supervisor.

    hosts      further names in `Host` that are this computer's
    preflight  asks the NPU's compiler about a graph; None where none can be asked
    static     folder of the canvas's files
    """

    async def make(supervisor: Supervisor) -> web.Application:
        return await make_app(settings, supervisor, hosts, preflight, static)

    return make


async def make_app(
    settings: Settings,
    supervisor: Supervisor,
    hosts: Sequence[str] = (),
    preflight: Preflight | None = None,
    static: Path = STATIC,
) -> web.Application:
    """Make the application; loads the node types, by which prompts are checked."""
    door = Door(settings.host, settings.token, frozenset(name.lower() for name in hosts))
    packs = await asyncio.to_thread(load_packs, settings.worker.packs)
    folders = settings.worker.folders
    sockets = Sockets(supervisor.queue.remaining, FEATURES)
    site = Site(
        settings,
        supervisor,
        Catalogue(packs, folders),
        sockets,
        Checking(packs.types, folders, settings.worker.device),
        UserFiles(settings.state / "user"),
        ModelJobs(folders.models, lambda job: sockets.send("vinode_job", job)),
        static,
        (*comfy_routes.ROUTES, *vinode_routes.ROUTES, PAGE),
        preflight,
    )
    middlewares = [guard(door), faults_as_answers]
    app = web.Application(middlewares=middlewares, client_max_size=MAX_JSON)
    app[SITE] = site
    register(app, [*site.routes, FILES])
    app.on_response_prepare.append(add_headers)
    app.cleanup_ctx.append(_telling)
    app.on_shutdown.append(_close)
    return app


async def _telling(app: web.Application) -> AsyncGenerator[None]:
    """Pass on to the sockets what is told, for as long as the application lives."""
    site = app[SITE]

    def hear(told: Sequence[Told]) -> None:
        for each in told:
            site.sockets.tell(each)

    end = site.supervisor.subscribe(hear)
    yield
    end()


async def _close(app: web.Application) -> None:
    await app[SITE].sockets.close()
    await app[SITE].models.close()
