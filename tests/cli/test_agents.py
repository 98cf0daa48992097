"""The verb `agents`: every agent and every option is listed with its help, and a default is read as it is written."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from diffusearch.agents.build import KINDS
from diffusearch.cli import app
from diffusearch.errors import UserError


def printed(*words: str) -> str:
    result = CliRunner().invoke(app, ["agents", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_all_agents_are_listed_with_what_they_do() -> None:
    lines = printed().splitlines()
    for kind, line in zip(KINDS.values(), lines, strict=False):
        assert re.split(r"[:\[ ]", line)[0] == kind.word
        assert line.endswith(f"  {kind.help}")


def test_an_argument_that_may_be_left_out_is_in_brackets() -> None:
    first = [line.split()[0] for line in printed().splitlines() if line]
    assert {"search[:RUN]", "direct:RUN", "mcts[:POLICY_RUN,VALUE_RUN]", "uci:PATH", "random"} < set(first)


@pytest.mark.parametrize("word", KINDS)
def test_the_options_of_an_agent_are_listed_with_values_help_and_defaults(word: str) -> None:
    text = printed(word)
    assert KINDS[word].help in text
    for option in KINDS[word].options:
        assert re.search(rf"^  {option.name} +{re.escape(option.help)}\n +{re.escape(option.kind.words)}", text, re.M)
    defaults = re.findall(r"; default (.+)$", text, re.M)
    named = [option for option in KINDS[word].options if option.default is not None]
    assert [option.kind.parse(default) for option, default in zip(named, defaults, strict=True)] == [
        option.default for option in named
    ]


def test_an_unknown_agent_is_refused() -> None:
    result = CliRunner().invoke(app, ["agents", "serch"])
    assert isinstance(result.exception, UserError)
    assert "did you mean 'search'?" in str(result.exception)
