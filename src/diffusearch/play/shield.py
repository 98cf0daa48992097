"""What stands between the API and the outside: security headers, a limit on what may be sent.

Pure ASGI, so that it covers the static files and the errors as well as the routes.
"""

from __future__ import annotations

import json

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 1_000_000  # bytes; the longest legal request is a pasted PGN, six bytes a character at worst

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


class Shield:
    """Adds the headers to every answer and refuses bodies above the limit, announced or not."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def shielded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store" if scope["path"].startswith("/api") else "no-cache")
            await send(message)

        messages = await _whole_body(receive)
        if messages is None:
            body = json.dumps({"detail": f"The request is longer than {MAX_BODY} bytes; send less."}).encode()
            headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
            await shielded({"type": "http.response.start", "status": 413, "headers": headers})
            await shielded({"type": "http.response.body", "body": body})
            return

        async def replayed() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replayed, shielded)


async def _whole_body(receive: Receive) -> list[Message] | None:
    """The messages that make up the body (or the news that the client left); None if it is too long."""
    messages: list[Message] = []
    seen = 0
    while True:
        message = await receive()
        messages.append(message)
        seen += len(message.get("body", b""))
        if seen > MAX_BODY:
            return None
        if message["type"] != "http.request" or not message.get("more_body", False):
            return messages
