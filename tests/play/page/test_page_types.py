"""The page's types of answers (web/src/api-types.ts) against those of the server (play/schemas.py), by tsc."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from diffusearch.play.api import Service
from diffusearch.play.opponents import Opponents
from diffusearch.play.server import create_app

WEB = Path(__file__).resolve().parents[3] / "web"
TSC = WEB / "node_modules" / "typescript" / "bin" / "tsc"
OPTIONS = "--noEmit --strict --exactOptionalPropertyTypes --target ES2022 --module ESNext --moduleResolution bundler"
PRIMITIVES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}

METHODS = {"try_puzzle": "tryPuzzle", "puzzle_solution": "solution", "agent_puzzle": "agentPuzzle"}  # of the page's Api


def typescript(schema: dict[str, Any]) -> str:
    """A schema as a type; a model is named."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(typescript(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    if schema["type"] == "array":
        return f"({typescript(schema['items'])})[]"
    return PRIMITIVES[schema["type"]]


def interface(name: str, schema: dict[str, Any]) -> str:
    """Every field is there: the server sends defaults too."""
    fields = "".join(f"{field}: {typescript(of)}; " for field, of in schema["properties"].items())
    return f"interface {name} {{ {fields}}}"


@pytest.mark.slow
def test_the_page_and_the_server_agree_on_every_answer(tmp_path: Path) -> None:
    """Each is assignable to the other: the same fields, none of them optional, null in the same places."""
    if shutil.which("node") is None or not TSC.is_file():
        pytest.skip("typescript is not installed; run `make setup`")
    described = create_app(Service(Opponents([], lambda text: pytest.fail(text))), None).openapi()
    models = described["components"]["schemas"].items()
    lines = [f'import type {{ Api }} from "{(WEB / "src" / "api-types").as_posix()}";']
    lines += [interface(name, schema) for name, schema in models if name.isidentifier() and "properties" in schema]
    for operation in (one for path in described["paths"].values() for one in path.values()):
        method = METHODS.get(operation["operationId"], operation["operationId"])
        answer = typescript(operation["responses"]["200"]["content"]["application/json"]["schema"])
        page = f'Awaited<ReturnType<Api["{method}"]>>'
        lines.append(f"export const {method} = (page: {page}, server: {answer}): [{answer}, {page}] => [page, server];")
    file = tmp_path / "agreement.ts"
    file.write_text("\n".join(lines), encoding="utf-8")
    command = ["node", str(TSC), *OPTIONS.split(), "--lib", "ES2023,DOM", str(file)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
