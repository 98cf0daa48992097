"""Limits on what a client may send: the time for headers and body, the size of the body, and the origin.

`RequestLimits` is pure ASGI and reads the whole body before the application sees the request. `TimedHeaders` is the
HTTP/1.1 protocol of uvicorn with a time limit on the headers, which uvicorn itself does not have.
"""

from __future__ import annotations

import asyncio
import json

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_BODY = 1_000_000  # bytes; the longest legal request is a pasted PGN, six bytes a character at worst
BODY_SECONDS = 10.0  # from the end of the headers to the end of the body
HEADER_SECONDS = 10.0  # from the connection, or the first byte of a further request, to the end of the headers
CONNECTIONS = 400  # open at the same time
_READS = {"GET", "HEAD", "OPTIONS"}


class RequestLimits:
    """Refuses foreign origins, slow bodies and long bodies with one sentence each."""

    def __init__(self, app: ASGIApp, body_seconds: float = BODY_SECONDS) -> None:
        self._app = app
        self._seconds = body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            messages = await asyncio.wait_for(_whole_body(receive), self._seconds)
        except TimeoutError:
            await _refuse(send, 408, f"The request took longer than {self._seconds:g} s to arrive; send it again.")
            return
        if messages is None:
            await _refuse(send, 413, f"The request is longer than {MAX_BODY} bytes; send less.")
            return
        if foreign(scope):  # after its body, or closing the connection could take the answer with it
            await _refuse(send, 403, "Requests from other sites are refused; open the page of this server instead.")
            return

        async def replayed() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replayed, send)


def foreign(scope: Scope) -> bool:
    """Whether a browser sends this from a page of another site, for a request that is more than a read.

    Browsers add `Origin` to every POST; programs other than browsers need not send one.
    """
    if scope["method"] in _READS:
        return False
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is not None:
        return origin != f"{scope['scheme']}://{headers.get('host', '')}"
    return headers.get("sec-fetch-site", "none") not in ("same-origin", "none")


async def _refuse(send: Send, status: int, sentence: str) -> None:
    """An answer of our own; the connection is closed, for the rest of the request may still be on its way."""
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"detail": sentence}).encode()})


async def _whole_body(receive: Receive) -> list[Message] | None:
    """The messages that make up the body (or say that the client left); None if it is too long."""
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


class TimedHeaders(H11Protocol):
    """Closes a connection whose headers are not complete in time."""

    header_seconds = HEADER_SECONDS
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._headers_done()
        elif self._deadline is None:
            self._wait_for_headers()

    def on_response_complete(self) -> None:
        super().on_response_complete()  # from here to the next byte uvicorn's own keep-alive limit counts
        if self.cycle is not None and not self.cycle.response_complete:
            self._headers_done()  # a pipelined request has begun

    def connection_lost(self, exc: Exception | None) -> None:
        self._headers_done()
        super().connection_lost(exc)

    def _wait_for_headers(self) -> None:
        self._deadline = self.loop.call_later(self.header_seconds, self.transport.close)

    def _headers_done(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
