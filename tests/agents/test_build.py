"""agent(text): the grammar, its errors, and whether the manual knows every word of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffusearch.agents import runs
from diffusearch.agents.base import Agent
from diffusearch.agents.build import KINDS, agent, may_film
from diffusearch.agents.engine import EngineAgent
from diffusearch.agents.imagining import ImaginingAgent, keep_film
from diffusearch.agents.make import OWNERS
from diffusearch.agents.searching import SearchAgent
from diffusearch.agents.spec import AgentSpec
from diffusearch.diffusion.decoding import JOINT, Decoding
from diffusearch.diffusion.orders import ORDERS
from diffusearch.drafts.revising import Reviser
from diffusearch.errors import UserError
from diffusearch.inference.evaluation import PredictedState
from diffusearch.inference.joint import JointDenoiser
from diffusearch.search.dynamics import Imagined, Rules
from diffusearch.search.handmade import Handmade
from diffusearch.search.mcts.conventions import PUBLISHED
from diffusearch.search.mcts.settings import PAPER, Settings
from diffusearch.search.minimax.planner import VALUE_WEIGHT, WIDTHS
from diffusearch.search.rollout import Rollout

MANUAL = Path(__file__).parents[2] / "docs" / "agents.md"


class EveryNet(Handmade):
    """A run that can do everything but imagine, remembered by its name."""

    predicts_states, has_value, reads_drafts, paradigm, horizon = True, True, True, "s-asa", 4
    recipe = SimpleNamespace(decoding=Decoding())

    def __init__(self, name: str, backend: str = "auto") -> None:
        self.name, self.provenance = name, {"name": name}
        self.backend = SimpleNamespace(name=backend, refusal=lambda decoding, horizon: None)

    def predict(self, boards: Any, evaluations: Any, moves: Any) -> list[PredictedState]:
        return [PredictedState(None, "it predicts nothing", "." * 64) for _ in boards]

    def quantised(self) -> EveryNet:
        return EveryNet(f"{self.name}, 8 bits")


@pytest.fixture(scope="module", autouse=True)
def no_weights() -> Iterator[None]:
    """Runs are mocks named by their text, and no program is started."""

    def fake_run(text: str | None, packaged_name: str, word: str | None = None, backend: str = "auto") -> Any:
        return EveryNet(text or f"packaged {packaged_name}", backend)

    def no_start(self: EngineAgent) -> Any:
        raise UserError("no engines in this test")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "run", fake_run)
        patch.setattr(EngineAgent, "_start", no_start)
        yield


def run_of(text: str) -> Any:
    made: Any = agent(text)
    return made.net.run if isinstance(made, ImaginingAgent) else made.net


def planner_of(text: str) -> Any:
    made = agent(text)
    assert isinstance(made, SearchAgent)
    return made.planner


@pytest.mark.parametrize("word", ["diffusearch", "s-a", "s-v", "sa-v:RUN", "direct:RUN", "autoregressive:RUN"])
def test_the_back_end_is_an_option_of_every_agent_with_a_network(word: str) -> None:
    for asked in ("auto", "onnx", "torch"):
        assert run_of(f"{word}?backend={asked}").backend.name == asked
    with pytest.raises(UserError, match="backend"):
        agent(f"{word}?backend=jax")


def test_what_only_torch_has_asks_for_torch() -> None:
    for options, wanted in (("cache=on&carry=keep", "torch"), ("carry=keep", "auto")):
        assert run_of(f"diffusearch?{options}").backend.name == wanted
    for text in ("search?backend=onnx", "mcts?backend=onnx"):
        assert planner_of(text).evaluator is not None


def test_bare_words_use_the_packaged_weights() -> None:
    for word, name in (("diffusearch", "diffusearch"), ("s-a", "s-a"), ("s-v", "s-v")):
        assert run_of(word).name == f"packaged {name}"
    mcts = planner_of("mcts")
    assert (mcts.evaluator.policy.name, mcts.evaluator.value.name) == ("packaged s-a", "packaged s-v")
    assert (mcts.settings, type(mcts.dynamics)) == (Settings(), Rules)
    minimax = planner_of("search")
    assert (minimax.evaluator.policy.name, minimax.dynamics.network.name) == ("packaged diffusearch",) * 2
    assert (minimax.widths, minimax.value_weight) == (WIDTHS, VALUE_WEIGHT) == ((4, 2, 2, 1), 12.0)


def test_drafts_make_a_reviser_and_joint_denoising_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    made: Any = agent("diffusearch:RUN?drafts=4&depth=2&rounds=1&steps=9")
    assert isinstance(made.net, Reviser)
    decoding = made.decoding
    assert (decoding.drafts, decoding.depth, decoding.rounds, decoding.steps) == (4, 2, 1, 9)
    monkeypatch.setattr(EveryNet, "recipe", SimpleNamespace(decoding=Decoding(drafts=6)))
    for text, drafts in (("diffusearch", 6), ("diffusearch?steps=1", 6)):
        made = agent(text)
        assert isinstance(made.net, Reviser)
        assert made.decoding.drafts == drafts
    for text in (
        "diffusearch?order=confidence",
        "diffusearch?horizon=2",
        "diffusearch?legal=on",
        "diffusearch?drafts=0",
    ):
        made = agent(text)
        assert isinstance(made.net, JointDenoiser)
        assert made.decoding.drafts == 0
    with pytest.raises(UserError, match=r"drafts and carry, .*, do not go together: keep one"):
        agent("diffusearch?drafts=3&carry=keep")


def test_drafts_have_no_film(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EveryNet, "recipe", SimpleNamespace(decoding=Decoding(drafts=6)))
    for text in ("diffusearch?film=on", "diffusearch:RUN?drafts=2&film=on"):
        with pytest.raises(UserError, match="a film has the steps of joint denoising: add order=confidence"):
            agent(text)
    for text, films in (("diffusearch?order=plies", True), ("diffusearch", False), ("s-a", False)):
        made: Any = agent(text)
        keep_film(made)
        assert getattr(made, "film", False) == films
    assert may_film(AgentSpec.parse("diffusearch"))
    assert not any(may_film(AgentSpec.parse(text)) for text in ("diffusearch?film=off", "s-a", "nobody"))


def test_a_run_without_a_reader_is_refused_with_drafts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EveryNet, "reads_drafts", False)
    with pytest.raises(UserError, match="has no draft reader: leave drafts out"):
        agent("diffusearch?drafts=3")


def test_options_of_diffusearch_change_the_runs_decoding() -> None:
    made = agent(
        "diffusearch:RUN?steps=10&order=margin&k=8&carry=keep&move_last=yes&stop=0.9&film=1&temperature=0.5"
        "&legal=off&cache=on&ahead=3&horizon=6"
    )
    assert isinstance(made, ImaginingAgent)
    assert made.decoding == Decoding(
        steps=10,
        order="margin",
        imaginations=8,
        carry="keep",
        move_last=True,
        stop_confidence=0.9,
        temperature=0.5,
        legal=False,
        cache=True,
        ahead=3,
    )
    assert made.film
    plain = agent("diffusearch:RUN")
    assert isinstance(plain, ImaginingAgent)
    assert plain.decoding == EveryNet.recipe.decoding
    assert not plain.film
    assert run_of("diffusearch:RUN?int8=on").name == "RUN, 8 bits"


def test_a_run_keeps_its_own_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Decoding(order="entropy", steps=7, carry="keep")
    monkeypatch.setattr(EveryNet, "recipe", SimpleNamespace(decoding=own))
    assert agent("diffusearch:RUN").decoding == own  # type: ignore[attr-defined]
    assert agent("diffusearch:RUN?steps=3").decoding == replace(own, steps=3)  # type: ignore[attr-defined]


def test_options_of_mcts() -> None:
    mcts = planner_of("mcts:P,V?simulations=50&cpuct=0.1&fpu=0.4&parallel=2")
    assert (mcts.evaluator.policy.name, mcts.evaluator.value.name) == ("P", "V")
    assert mcts.settings == replace(Settings(), simulations=50, cpuct=0.1, fpu=0.4, parallel=2)
    paper = agent("mcts?preset=paper&temperature=0")
    assert isinstance(paper, SearchAgent)
    assert paper.temperature == 0.0
    assert paper.planner.settings == replace(PAPER, temperature=0.0)  # type: ignore[attr-defined]
    assert agent("mcts?preset=paper").temperature == 1.0  # type: ignore[attr-defined]
    assert planner_of("mcts?preset=paper&fpu=parent").settings.fpu is None
    published = planner_of("mcts-as-published:P,V")
    assert published.settings.conventions is PUBLISHED
    assert planner_of("mcts?simulations=200&strength=25").settings.simulations == 50
    assert {role: one["name"] for role, one in agent("mcts:P,V").provenance.items()} == {"policy": "P", "value": "V"}


def test_options_of_search() -> None:
    minimax = planner_of("search:RUN?widths=3x2&value_weight=0.5")
    assert (minimax.widths, minimax.value_weight) == ((3, 2), 0.5)
    assert isinstance(minimax.dynamics, Imagined)
    assert isinstance(planner_of("search:RUN?dynamics=rules").dynamics, Rules)
    rollout = planner_of("search:RUN?planner=rollout&depth=6&dynamics=rules")
    assert isinstance(rollout, Rollout)
    assert rollout.depth == 6
    mcts = planner_of("search:RUN?planner=mcts&simulations=50&cpuct=2&reuse=off")
    assert mcts.settings == replace(Settings(), simulations=50, cpuct=2.0, reuse=False)
    assert isinstance(mcts.dynamics, Imagined)
    assert planner_of("search:RUN?strength=50").widths == (4, 2)
    assert planner_of("search:RUN?planner=rollout&strength=25").depth == 1
    assert planner_of("search:P,V").dynamics.network.name == "P"


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
        ("diffusearch?film=perhaps", "on or off, not 'perhaps'"),
        ("diffusearch?carry=remask", "one of predict, keep, gumbel, not 'remask'"),
        ("diffusearch?fan=4x2", "has no option 'fan'"),
        ("diffusearch?order=turns", "one of confidence, margin"),
        ("search?planner=alphabeta", "one of minimax, mcts, rollout"),
        ("search?dynamics=dreams", "one of imagined, rules"),
        ("search?depth=2", "belongs to planner=rollout, not to planner=minimax"),
        ("search?planner=mcts&value_weight=2", "belongs to planner=minimax, not to planner=mcts"),
        ("search:a,b,c", "POLICY_RUN,VALUE_RUN"),
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
    (order,) = [option for option in KINDS["diffusearch"].options if option.name == "order"]
    for word in ORDERS:
        assert order.kind.parse(word) == word


def test_every_default_is_a_value_that_can_be_written() -> None:
    for kind in KINDS.values():
        for option in kind.options:
            if option.default is not None:
                assert option.kind.parse(str(option.default)) == option.default


SIGNS = ["=", ":", "?", "&", ",", " ", "%", "%20", "\0", "é", "7", "0.5", "on", "steps", "nodes"]
pieces = st.sampled_from([*KINDS, *SIGNS])
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
    words = ["s-a", "s-v", "mcts", "mcts-as-published", "random", "diffusearch", "search"]
    kind = KINDS[draw(st.sampled_from(words))]
    planner = draw(st.sampled_from(["minimax", "mcts", "rollout"]))
    # ahead needs cache, and an option of `search` its planner
    free = [one for one in kind.options if one.name not in ("ahead", "planner")]
    free = [one for one in free if kind.word != "search" or OWNERS.get(one.name, planner) == planner]
    options = draw(st.lists(st.sampled_from(free), unique_by=lambda option: option.name))
    values = {"preset": "paper", "order": "entropy", "fpu": "parent", "prove": "off", "reuse": "on", "widths": "3x2"}
    values |= {
        "backend": "torch",
        "carry": "keep",
        "backup": "line-mean",
        "dynamics": draw(st.sampled_from(["imagined", "rules"])),
    }
    parts = {option.name: values.get(option.name, "1") for option in options}
    if kind.word == "search":
        parts["planner"] = planner
    if "cache" in parts:
        parts["carry"] = "keep"
    if not parts.keys().isdisjoint({*JOINT, "k", "stop", "horizon"}):
        parts.pop("drafts", None)
    argument = ":X" if kind.argument and draw(st.booleans()) else ""
    tail = "&".join(f"{name}={value}" for name, value in parts.items())
    return kind.word + argument + (f"?{tail}" if tail else "")


@settings(max_examples=40, deadline=None)
@given(text=_right())
def test_right_texts_give_agents_that_play(text: str) -> None:
    made = agent(text)
    if isinstance(made, ImaginingAgent):  # the mock does not imagine
        return
    assert made.play(chess.Board("7k/8/8/8/8/8/7r/K7 w - - 0 1")).move.uci() == "a1b1"


def test_the_manual_names_every_word_and_option() -> None:
    manual = MANUAL.read_text(encoding="utf-8")
    for kind in KINDS.values():
        assert f"`{kind.word}" in manual, kind.word
        for option in kind.options:
            assert f"`{option.name}`" in manual, (kind.word, option.name)


@pytest.mark.parametrize(
    "text", ["0", "4x0", "65", "4x", "x4", "4X2", "4,2", "-4", "4x 2", "1x" * 8 + "1", "64x64", "four", ""]
)
def test_bad_widths_are_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"^(option widths of agent .* such as 4x2x2x1, of at most 1024|.*widths)"):
        agent(f"search?widths={text}")
