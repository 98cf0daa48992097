"""Security headers on every answer of the server: the routes, the static files and the errors (pure ASGI)."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Scripts only from our own files. Styles may be inline: the board is a web component that carries its style
# (and its pieces, as data images) inside its shadow tree. No frame may hold the page, no form leaves it.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)

HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class SecurityHeaders:
    """Adds the headers to every answer; `others` come on top of them."""

    def __init__(self, app: ASGIApp, others: Mapping[str, str] | None = None) -> None:
        self._app, self._headers = app, HEADERS | dict(others or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store" if scope["path"].startswith("/api") else "no-cache")
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
