"""`diffusearch play --static`: the page without a server is served as files, or it is said how to build it."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from diffusearch.cli import app
from diffusearch.errors import UserError
from diffusearch.play.static_page import static_app, static_folder


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text("<title>DiffuSearch</title>")
    (tmp_path / "service-worker.js").write_text("const BUILT = [];")
    (tmp_path / "engine.wasm").write_bytes(b"\0asm")
    return tmp_path


def test_an_unbuilt_page_is_explained(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="make static"):
        static_folder(tmp_path)


def test_a_built_page_is_found(built: Path) -> None:
    assert static_folder(built) == built


def test_its_files_are_served_as_a_browser_needs_them(built: Path) -> None:
    with TestClient(static_app(built), base_url="http://localhost") as client:
        page, code, wasm = (client.get(path) for path in ("/", "/service-worker.js", "/engine.wasm"))
    assert "DiffuSearch" in page.text
    assert code.headers["content-type"].startswith(("text/javascript", "application/javascript"))
    assert wasm.headers["content-type"] == "application/wasm"  # else the browser does not compile it while it loads
    policy = page.headers["content-security-policy"]
    assert "script-src 'self' 'wasm-unsafe-eval'" in policy
    assert "worker-src 'self'" in policy
    assert page.headers["cross-origin-embedder-policy"] == "require-corp"
    assert page.headers["cross-origin-opener-policy"] == "same-origin"


def test_there_is_no_api_and_no_other_host(built: Path) -> None:
    with TestClient(static_app(built), base_url="http://localhost") as client:
        assert client.get("/api/agents").status_code == 404
        assert client.post("/index.html").status_code == 405
        assert client.get("/", headers={"host": "elsewhere.example"}).status_code == 400


def test_own_agents_cannot_come_along() -> None:
    done = CliRunner().invoke(app, ["play", "--static", "--agent", "random", "--no-open", "--port", "0"])
    assert isinstance(done.exception, UserError)
    assert "leave out --agent 'random'" in str(done.exception)
