"""agent(text): the grammar, its errors, and whether the manual knows every word of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffusearch.agents import runs
from diffusearch.agents.base import Agent
from diffusearch.agents.build import PLAYERS, agent
from diffusearch.agents.engine import EngineAgent
from diffusearch.agents.imagining import ImaginingAgent
from diffusearch.agents.searching import SearchAgent
from diffusearch.diffusion.orders import ORDERS
from diffusearch.errors import UserError
from diffusearch.search.handmade import GainPolicy, MaterialValue
from diffusearch.search.mcts.conventions import PUBLISHED
from diffusearch.search.mcts.settings import PAPER, Settings

MANUAL = Path(__file__).parents[2] / "docs" / "agents.md"


class EveryNet(GainPolicy, MaterialValue):
    """A run that can do everything but imagine states, remembered by its name."""

    imagines_states, knows_values, usual_order = False, True, "plies"

    def __init__(self, name: str) -> None:
        self.name = name


@pytest.fixture(scope="module", autouse=True)
def no_weights() -> Iterator[None]:
    """Runs are mocks named by their text, and no program is started."""

    def fake_run(text: str | None, packaged_name: str, word: str) -> Any:
        return EveryNet(text or f"packaged {packaged_name}")

    def no_start(self: EngineAgent) -> Any:
        raise UserError("no engines in this test")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "run", fake_run)
        patch.setattr(EngineAgent, "_start", no_start)
        yield


def test_bare_words_use_the_packaged_weights() -> None:
    for word, name in (("diffusearch", "diffusearch"), ("s-a", "s-a"), ("s-v", "s-v")):
        assert agent(word).net.name == f"packaged {name}"  # type: ignore[attr-defined]
    mcts = agent("mcts")
    assert isinstance(mcts, SearchAgent)
    assert (mcts.policy.name, mcts.value.name) == ("packaged s-a", "packaged s-v")  # type: ignore[attr-defined]
    assert mcts.settings == Settings()


def test_the_texts_of_the_manual() -> None:
    made = agent("diffusearch:RUN?steps=10&order=margin&k=8&remask=on&move_last=yes&stop=0.9&film=1&temperature=0.5")
    assert isinstance(made, ImaginingAgent)
    decoding = made.decoding
    assert (decoding.steps, decoding.order, decoding.imaginations) == (10, "margin", 8)
    assert (decoding.remask, decoding.move_last, decoding.film) == (True, True, True)
    assert (decoding.stop_confidence, decoding.temperature) == (0.9, 0.5)
    assert agent("diffusearch:RUN?cache=on").decoding.cache  # type: ignore[attr-defined]
    mcts = agent("mcts:P,V?simulations=50&cpuct=0.1&fpu=0.4&parallel=2")
    assert isinstance(mcts, SearchAgent)
    assert (mcts.policy.name, mcts.value.name) == ("P", "V")  # type: ignore[attr-defined]
    assert (mcts.settings.simulations, mcts.settings.cpuct, mcts.settings.fpu, mcts.settings.parallel) == (
        50,
        0.1,
        0.4,
        2,
    )
    paper = agent("mcts?preset=paper&temperature=0")
    assert isinstance(paper, SearchAgent)
    assert (paper.settings.cpuct, paper.settings.fpu, paper.temperature) == (PAPER.cpuct, PAPER.fpu, 0.0)
    parent = agent("mcts?preset=paper&fpu=parent")
    assert isinstance(parent, SearchAgent)
    assert parent.settings.fpu is None
    published = agent("mcts-as-published:BOTH")
    assert isinstance(published, SearchAgent)
    assert published.settings.conventions is PUBLISHED
    assert published.policy.name == published.value.name == "BOTH"  # type: ignore[attr-defined]


def test_an_agent_is_called_by_its_text() -> None:
    assert agent(" random:seed=3 ").name == "random:seed=3"
    assert agent("random:seed=3").seed == agent("random?seed=3").seed == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("stokfish", "did you mean 'stockfish'"),
        ("nonsense", "The agents are: diffusearch"),
        ("random:7", "takes only options"),
        ("random:seed=x", "whole number from 0 to 2147483647, not 'x'"),
        ("random:seed=1?seed=2", "given twice"),
        ("random?sead=1", "did you mean 'seed'"),
        ("random?", "ends with"),
        ("s-a:", "nothing after ':'"),
        ("sa-v", "lacks its RUN"),
        ("uci", "lacks its PATH"),
        ("s-a?temperature=-1", "0, or a number from 0.001 to 100, not '-1'"),
        ("s-a?temperature=1e-308", "not '1e-308'"),
        ("stockfish?movetime=1" + "0" * 400, "a whole number from 1 to 2147483647"),
        ("stockfish?nodes=1_000", "not '1_000'"),
        ("stockfish?nodes=\N{ARABIC-INDIC DIGIT THREE}", "a whole number from 1"),
        ("s-a?temperature=nan", "not 'nan'"),
        ("s-a?temperature=inf", "not 'inf'"),
        ("s-a?strength=101", "from 0 to 100, not '101'"),
        ("s-a?temperature", "name=value"),
        ("diffusearch?order=best", "one of confidence, margin"),
        ("diffusearch?remask=perhaps", "on or off, not 'perhaps'"),
        ("diffusearch?steps=0", "not '0'"),
        ("mcts:a,b,c", "POLICY_RUN,VALUE_RUN"),
        ("mcts:a,", "POLICY_RUN,VALUE_RUN"),
        ("mcts?fpu=2", "parent or a number from 0 to 1"),
        ("mcts?preset=alphazero", "one of tuned, paper"),
        ("stockfish:elo=1500&skill=3", "keep one"),
    ],
)
def test_wrong_texts_are_explained(text: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        agent(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_orders_are_the_decoders() -> None:
    (order,) = [option for option in PLAYERS["diffusearch"].options if option.name == "order"]
    for word in ORDERS:
        assert order.kind.parse(word) == word


def test_every_default_is_a_value_that_can_be_written() -> None:
    for player in PLAYERS.values():
        for option in player.options:
            if option.default is not None:
                assert option.kind.parse(str(option.default)) == option.default


SIGNS = ["=", ":", "?", "&", ",", " ", "%", "%20", "\0", "é", "7", "0.5", "on", "steps", "nodes"]
pieces = st.sampled_from([*PLAYERS, *SIGNS])
almost = st.one_of(st.text(max_size=30), st.lists(pieces, max_size=9).map("".join))


@settings(max_examples=200, deadline=None)
@given(text=almost)
def test_any_text_gives_an_agent_or_a_user_error(text: str) -> None:
    try:
        made = agent(text)
    except UserError:
        return
    assert isinstance(made, Agent)


@st.composite
def _right(draw: st.DrawFn) -> str:
    """A text that follows the grammar."""
    player = PLAYERS[draw(st.sampled_from(["s-a", "s-v", "mcts", "mcts-as-published", "random", "diffusearch"]))]
    # trust needs a fan, and the mock has none; ahead needs cache
    free = [option for option in player.options if option.name not in ("trust", "ahead")]
    options = draw(st.lists(st.sampled_from(free), unique_by=lambda option: option.name))
    values = {"preset": "paper", "order": "entropy", "fpu": "parent", "prove": "off", "reuse": "on"}
    values |= {"remask": "off", "int8": "off"}  # remask excludes cache, and the mock has no weights
    parts = [f"{option.name}={values.get(option.name, '1')}" for option in options]
    argument = ":X" if player.argument and draw(st.booleans()) else ""
    return player.word + argument + ("?" + "&".join(parts) if parts else "")


@settings(max_examples=40, deadline=None)
@given(text=_right())
def test_right_texts_give_agents_that_play(text: str) -> None:
    made = agent(text)
    if isinstance(made, ImaginingAgent):  # the mock does not imagine
        return
    assert made.play(chess.Board("7k/8/8/8/8/8/7r/K7 w - - 0 1")).move.uci() == "a1b1"


def test_the_manual_names_every_word_and_option() -> None:
    manual = MANUAL.read_text(encoding="utf-8")
    for player in PLAYERS.values():
        assert f"`{player.word}" in manual, player.word
        for option in player.options:
            assert f"`{option.name}`" in manual, (player.word, option.name)
