"""The page's server: the API, the built page, and how errors are said. Serves on this machine only."""

from __future__ import annotations

import contextlib
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Sequence
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from diffusearch.errors import UserError
from diffusearch.play.api import GameOver, NoSuchPuzzle, router
from diffusearch.play.desk import Busy, Desk
from diffusearch.play.roster import Roster, UnknownAgent
from diffusearch.play.shield import Shield

HOST = "127.0.0.1"


def assets() -> Path:
    """The built page, or a UserError that says how to build it."""
    folder = Path(str(files("diffusearch.play"))) / "assets"
    if not (folder / "index.html").is_file():
        raise UserError("The page is not built; run `npm ci && npm run build` in web/ (or `make play`) first.")
    return folder


def create_app(roster: Roster, desk: Desk, page: Path | None, hosts: Sequence[str] = (HOST, "localhost")) -> FastAPI:
    """The whole application; `page` is the folder of built files, None for the API alone."""

    @contextlib.asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()
        roster.close()

    app = FastAPI(
        title="DiffuSearch",
        summary="A chess agent that imagines before it moves",
        openapi_url="/api/openapi.json",
        docs_url=None,  # both documentation pages load scripts from elsewhere
        redoc_url=None,
        lifespan=life,
    )
    app.state.roster = roster
    app.state.desk = desk
    app.include_router(router)
    _say_errors(app)
    if page is not None:
        app.mount("/", StaticFiles(directory=page, html=True), name="page")
    # A strange Host header means that another site's name was pointed at this machine (DNS rebinding).
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
    app.add_middleware(Shield)
    return app


def _say_errors(app: FastAPI) -> None:
    """Every refusal is one sentence in `detail`."""

    def said(status: int, sentence: str) -> JSONResponse:
        return JSONResponse({"detail": sentence}, status_code=status)

    def user_error(_: Request, error: Exception) -> JSONResponse:
        missing = isinstance(error, (UnknownAgent, NoSuchPuzzle))
        return said(404 if missing else 409 if isinstance(error, GameOver) else 400, str(error))

    def busy(_: Request, error: Exception) -> JSONResponse:
        answer = said(503, str(error))
        answer.headers["retry-after"] = "3"
        return answer

    def shape(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body") or "the request"
        return said(422, f"{place}: {first['msg']}.")

    def http(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        answer = said(error.status_code, f"{error.detail}.")
        answer.headers.update(error.headers or {})
        return answer

    app.add_exception_handler(UserError, user_error)
    app.add_exception_handler(Busy, busy)
    app.add_exception_handler(RequestValidationError, shape)
    app.add_exception_handler(HTTPException, http)


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


def serve(app: FastAPI, listener: socket.socket, show: bool) -> None:
    """Serve until Ctrl-C; `show` opens the page in the browser once it listens."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", server_header=False))
    address = f"http://{HOST}:{listener.getsockname()[1]}/"
    listener.listen(128)  # from here on a browser is let in and waits until the server answers
    print(f"DiffuSearch plays at {address} (Ctrl-C ends it)", flush=True)
    if show:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):  # raised again by uvicorn after a clean end
        server.run(sockets=[listener])
