"""The API against its own OpenAPI description, with inputs that nobody thought of (schemathesis)."""

from __future__ import annotations

import chess
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.play.api import Service
from diffusearch.play.opponents import Level, Opponent, Opponents
from diffusearch.play.server import create_app

# Not among the checks: that all data of the right shape is accepted. A schema cannot say what a legal position is.
CHECKS = [
    not_a_server_error,
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
]


class First(Agent):
    """The first legal move, at once."""

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        move = min(board.legal_moves, key=chess.Move.uci)
        return Decision(move, {move: 1.0}, (move,), value=0.5)


def application() -> FastAPI:
    one = Opponent("first", "First", "The first legal move", (Level("only level", "first"),))
    return create_app(Service(Opponents([one], lambda _: First())), None, hosts=["testserver"])


schema = schemathesis.openapi.from_asgi("/api/openapi.json", application())


@schema.parametrize()
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_api_keeps_its_word(case: schemathesis.Case) -> None:
    case.call_and_validate(checks=CHECKS)


def test_openapi_documents_every_refusal() -> None:
    paths = application().openapi()["paths"]
    assert len(paths) >= 8
    for path in paths.values():
        for operation in path.values():
            content = operation["responses"]["422"]["content"]["application/json"]
            assert content["schema"]["$ref"].endswith("/Refusal")
