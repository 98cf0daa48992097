"""The static page: built by `make static`, it plays in the browser alone. Here it is only served, for a look."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fastapi import FastAPI
from starlette.middleware.trustedhost import TrustedHostMiddleware

from diffusearch.errors import UserError
from diffusearch.play.request_limits import RequestLimits
from diffusearch.play.security_headers import CONTENT_SECURITY_POLICY, SecurityHeaders
from diffusearch.play.server import HOST, PageFiles

BUILT = Path(__file__).parents[3] / "build" / "static"  # in a checkout, where `make static` writes it

# The engine is WebAssembly in a worker; the rest is as on the page with a server. Isolation would allow several
# threads; the engine uses one.
POLICY = CONTENT_SECURITY_POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")
HEADERS = {
    "content-security-policy": f"{POLICY}; worker-src 'self'; manifest-src 'self'",
    "cross-origin-embedder-policy": "require-corp",
}


def static_folder(folder: Path = BUILT) -> Path:
    """The folder of the built page, or a UserError that says how to build it."""
    if not (folder / "service-worker.js").is_file():
        raise UserError(f"There is no static page in {folder}; run `make static` in a checkout of the project first.")
    return folder


def static_app(folder: Path, hosts: Sequence[str] = (HOST, "localhost")) -> FastAPI:
    """The files of the page and nothing else: no API, as on any static host."""
    app = FastAPI(title="DiffuSearch", openapi_url=None, docs_url=None, redoc_url=None)
    app.mount("/", PageFiles(directory=folder, html=True), name="page")
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
    app.add_middleware(RequestLimits)
    app.add_middleware(SecurityHeaders, HEADERS)
    return app
