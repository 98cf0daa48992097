"""Options: what is declared can be set, what is wrong is refused, and agents get what they understand."""

from __future__ import annotations

import pytest

from diffusearch.errors import UserError
from diffusearch.play.rating_scale import dial_ratings
from diffusearch.play.uci_options import TABLE, UciOptions


def test_every_default_is_allowed_by_its_own_option() -> None:
    for option in TABLE:
        text = str(option.default).lower() if isinstance(option.default, bool) else str(option.default)
        assert option.parse(text) == option.default


def test_declared_lines_are_those_of_the_protocol() -> None:
    lines = UciOptions().declared()
    assert "option name Steps type spin default 0 min 0 max 1000" in lines
    assert "option name Weights type string default <empty>" in lines
    assert "option name UCI_ShowWDL type check default false" in lines
    combo = next(line for line in lines if " type combo " in line)
    assert combo.startswith("option name Order type combo default auto var auto var confidence")


def test_values_given_at_the_start_are_declared_as_defaults() -> None:
    options = UciOptions(Agent="random", Move_Overhead=100, UCI_ShowWDL=True)
    assert "option name Agent type string default random" in options.declared()
    assert "option name Move Overhead type spin default 100 min 0 max 5000" in options.declared()
    assert options.on("UCI_ShowWDL")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Steps", "-1"),
        ("Steps", "1001"),
        ("Steps", "ten"),
        ("Steps", "-+5"),
        ("Steps", "+-5"),
        ("Steps", "1_0"),
        ("Steps", ""),
        ("Steps", "٣"),
        ("Steps", "9" * 5000),
        ("Order", "backwards"),
        ("UCI_ShowWDL", "maybe"),
        ("Contempt", "24"),
        ("", ""),
    ],
)
def test_a_wrong_value_is_refused_and_changes_nothing(name: str, text: str) -> None:
    options = UciOptions()
    before = options.declared(), options.number("Steps"), options.text("Order")
    with pytest.raises(UserError, match=name or "No such option"):
        options.set(name, text)
    assert before == (options.declared(), options.number("Steps"), options.text("Order"))


def test_what_the_agents_text_says_is_left_as_it_is() -> None:
    for text in ("random:seed=3", "random?seed=3"):
        assert UciOptions(Agent=text).agent_text() == "random?seed=3"


def test_names_are_known_in_any_case() -> None:
    options = UciOptions()
    assert options.set("move overhead", "7") == "Move Overhead"
    assert options.number("Move Overhead") == 7
    options.set("ORDER", "MARGIN")
    assert options.text("Order") == "margin"


def test_the_agents_text_gets_what_the_agent_understands() -> None:
    options = UciOptions(Seed=5, Temperature=50, Strength=70)
    options.set("Agent", "s-a")
    assert options.agent_text() == "s-a?temperature=0.5&strength=70&seed=5"
    options.set("Weights", "runs/mine")
    assert options.agent_text() == "s-a:runs/mine?temperature=0.5&strength=70&seed=5"
    options.set("Weights", "<empty>")
    options.set("Agent", "s-a?seed=1")
    assert options.agent_text() == "s-a?seed=1&temperature=0.5&strength=70"
    options.set("Backend", "torch")
    assert options.agent_text() == "s-a?seed=1&temperature=0.5&backend=torch&strength=70"
    options.set("Agent", "random")
    assert options.agent_text() == "random?seed=5"
    options.set("Agent", "stockfish:nodes=10")
    assert options.agent_text() == "stockfish?nodes=10"


def test_chess960_is_refused_clearly() -> None:
    options = UciOptions()
    with pytest.raises(UserError, match="UCI_Chess960 is refused: only standard chess"):
        options.set("UCI_Chess960", "true")
    options.set("UCI_Chess960", "false")  # what some programs send by themselves
    assert not any("960" in line for line in options.declared())


def test_an_elo_is_turned_into_a_strength_by_the_measured_scale() -> None:
    options = UciOptions(Seed=5)
    points = dial_ratings("search")
    low, high = points[0][1], points[-1][1]
    assert f"option name UCI_Elo type spin default {high} min {low} max {high}" in options.declared()
    options.set("UCI_Elo", str(low))
    assert options.agent_text() == "search?seed=5"  # it holds with UCI_LimitStrength alone
    options.set("UCI_LimitStrength", "true")
    assert options.agent_text() == f"search?strength={points[0][0]}&seed=5"
    options.set("UCI_Elo", str(high))
    assert options.agent_text() == "search?seed=5"
    options.set("Strength", "30")
    assert options.strength == 100  # UCI_Elo goes before Strength
    with pytest.raises(UserError, match="UCI_Elo"):
        options.set("UCI_Elo", str(high + 1))


@pytest.mark.parametrize(("agent", "weights"), [("mcts", ""), ("search?widths=2x1", ""), ("search", "runs/mine")])
def test_without_a_measured_scale_strength_holds_and_a_notice_says_so(agent: str, weights: str) -> None:
    options = UciOptions(Agent=agent, Weights=weights, UCI_LimitStrength=True, Strength=70)
    assert "not for" in options.notice
    assert options.strength == 70
    options.set("UCI_LimitStrength", "false")
    assert options.notice == ""


def test_weights_in_two_places_are_refused() -> None:
    with pytest.raises(UserError, match="names its weights already"):
        UciOptions(Agent="s-a:runs/one", Weights="runs/two").agent_text()


def test_seed_zero_means_another_game_each_time() -> None:
    options = UciOptions(Agent="random")
    first = options.agent_text()
    assert options.agent_text() == first
    options.new_game()
    assert options.agent_text() != first
