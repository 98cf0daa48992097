"""The page's server: the API, the built page, and the errors. Serves on this machine only."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Sequence
from importlib.resources import files
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import Response
from starlette.types import Scope

from diffusearch.errors import UserError
from diffusearch.play.api import GameOver, NoSuchPuzzle, Service, router
from diffusearch.play.opponents import UnknownAgent
from diffusearch.play.request_limits import CONNECTIONS, RequestLimits, TimedHeaders
from diffusearch.play.security_headers import SecurityHeaders
from diffusearch.play.work_queue import Busy, ClientGone

HOST = "127.0.0.1"
LONGEST_DETAIL = 400  # characters of a refusal; somebody's input may be quoted in it


def assets() -> Path:
    """The built page, or a UserError that says how to build it."""
    folder = Path(str(files("diffusearch.play"))) / "assets"
    if not (folder / "index.html").is_file():
        raise UserError("The page is not built; run `npm ci && npm run build` in web/ (or `make play`) first.")
    return folder


class PageFiles(StaticFiles):
    """The built page; other methods than reads are refused with the header that HTTP asks for."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405, f"{scope['method']} is not allowed here", {"allow": "GET, HEAD"})
        return await super().get_response(path, scope)


def create_app(service: Service, page: Path | None, hosts: Sequence[str] = (HOST, "localhost")) -> FastAPI:
    """The whole application; `page` is the folder of built files, None for the API alone."""

    @contextlib.asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        service.opponents.load()
        yield
        service.close()

    app = FastAPI(
        title="DiffuSearch",
        summary="Play against discrete diffusion, tree search and engines",
        openapi_url="/api/openapi.json",
        docs_url=None,  # both documentation pages load scripts from elsewhere
        redoc_url=None,
        lifespan=life,
    )
    app.state.service = service
    app.include_router(router)
    _handle_errors(app)
    if page is not None:
        app.mount("/", PageFiles(directory=page, html=True), name="page")
    # A strange Host header means that another site's name was pointed at this machine (DNS rebinding).
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
    app.add_middleware(RequestLimits)
    app.add_middleware(SecurityHeaders)
    return app


def _handle_errors(app: FastAPI) -> None:
    """Every refusal is one sentence in `detail`."""

    def said(status: int, sentence: str) -> JSONResponse:
        return JSONResponse({"detail": shortened(sentence)}, status_code=status)

    def user_error(_: Request, error: Exception) -> JSONResponse:
        missing = isinstance(error, (UnknownAgent, NoSuchPuzzle))
        return said(404 if missing else 409 if isinstance(error, GameOver) else 400, str(error))

    def busy(_: Request, error: Exception) -> JSONResponse:
        answer = said(503, str(error))
        answer.headers["retry-after"] = "3"
        return answer

    def gone(_: Request, error: Exception) -> JSONResponse:
        return said(499, str(error))  # nobody reads it

    def shape(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        place = ".".join(str(part)[:60] for part in first["loc"] if part != "body") or "the request"
        return said(422, f"{place}: {first['msg']}.")

    def http(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        answer = said(error.status_code, f"{error.detail}.")
        answer.headers.update(error.headers or {})
        return answer

    app.add_exception_handler(UserError, user_error)
    app.add_exception_handler(Busy, busy)
    app.add_exception_handler(ClientGone, gone)
    app.add_exception_handler(RequestValidationError, shape)
    app.add_exception_handler(HTTPException, http)


def shortened(sentence: str) -> str:
    """A sentence of bounded length, on one line."""
    text = " ".join(sentence.split())
    return text if len(text) <= LONGEST_DETAIL else text[: LONGEST_DETAIL - 5] + " ...."


def listen(port: int) -> socket.socket:
    """A socket on this machine alone; port 0 takes any free one."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise UserError(f"Port {port} cannot be used ({error.strerror}); choose another with --port.") from error
    return listener


def config(app: FastAPI) -> uvicorn.Config:
    """How uvicorn serves the application: bounded in connections, in time for headers and in idle time."""
    return uvicorn.Config(
        app,
        http=TimedHeaders,
        ws="none",
        log_level="warning",
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=5,
    )


class Server(uvicorn.Server):
    """Uvicorn's server, which one Ctrl-C ends in good order; further ones change nothing."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig == signal.SIGINT:  # uvicorn would raise KeyboardInterrupt after the end
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            self.should_exit = True
        else:
            super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        logging.getLogger("uvicorn.error").addFilter(_is_a_fault)
        await super().shutdown(sockets)


def _is_a_fault(record: logging.LogRecord) -> bool:
    """Not that the end cuts off requests whose agents still think: whoever pressed Ctrl-C wants that."""
    cut_off = record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not cut_off and not str(record.msg).startswith("Cancel %s running task")


def serve(app: FastAPI, listener: socket.socket, show: bool) -> None:
    """Serve until Ctrl-C; `show` opens the page in the browser once it listens."""
    server = Server(config(app))
    address = f"http://{HOST}:{listener.getsockname()[1]}/"
    signal.signal(signal.SIGINT, server.handle_exit)  # whoever reads the address may press Ctrl-C at once
    listener.listen(128)  # from here on a browser is let in and waits until the server answers
    print(f"DiffuSearch plays at {address} (Ctrl-C ends it)", flush=True)
    if show:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    server.run(sockets=[listener])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program ends by itself now
