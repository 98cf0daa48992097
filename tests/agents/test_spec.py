"""AgentSpec: texts in, texts out, options and runs put in between."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diffusearch.agents.build import KINDS
from diffusearch.agents.spec import DEFAULT_AGENT, AgentSpec
from diffusearch.errors import UserError

words = st.text(string.ascii_lowercase + "-", min_size=1, max_size=12)
# A run folder as it can be written in a text: no '?', and a '=' only beside a '/'.
arguments = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20)
values = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)
options = st.dictionaries(values, values, max_size=4)
specs = st.builds(AgentSpec, words, st.none() | arguments, options)


@given(spec=specs)
def test_a_spec_and_its_text_are_the_same(spec: AgentSpec) -> None:
    assert AgentSpec.parse(str(spec)) == spec
    assert AgentSpec.parse(f"  {spec} \n") == spec


@given(spec=specs, name=values, value=st.one_of(values, st.integers(), st.floats(allow_nan=False)))
def test_an_option_is_set_and_taken_away(spec: AgentSpec, name: str, value: object) -> None:
    changed = spec.with_options(**{name: value})
    assert (changed.word, changed.argument) == (spec.word, spec.argument)
    assert changed.options == spec.options | {name: str(value)}
    assert AgentSpec.parse(str(changed)) == changed
    rest = {key: one for key, one in spec.options.items() if key != name}
    assert changed.with_options(**{name: None}).options == rest
    assert spec.with_options() == spec


@given(spec=specs, argument=arguments)
def test_a_run_is_put_in_once(spec: AgentSpec, argument: str) -> None:
    if spec.argument is None:
        assert spec.with_run(argument) == AgentSpec(spec.word, argument, spec.options)
    else:
        with pytest.raises(UserError, match="names its weights already"):
            spec.with_run(argument)


def test_the_order_of_options_is_kept_and_they_are_readable() -> None:
    spec = AgentSpec.parse("diffusearch?steps=5&order=left-to-right").with_options(k=2, steps=7)
    assert str(spec) == "diffusearch?steps=7&order=left-to-right&k=2"
    assert str(AgentSpec("search", "runs/a,runs/b", {"widths": "4x2"})) == "search:runs/a,runs/b?widths=4x2"
    assert str(AgentSpec("uci", "/bin/e", {"option.Skill Level": "3 & 4"})) == (
        "uci:/bin/e?option.Skill%20Level=3%20%26%204"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("diffusearch", AgentSpec("diffusearch")),
        ("s-a:runs/mine", AgentSpec("s-a", "runs/mine")),
        ("stockfish:nodes=5", AgentSpec("stockfish", None, {"nodes": "5"})),
        ("stockfish:nodes=5?hash=2", AgentSpec("stockfish", None, {"nodes": "5", "hash": "2"})),
        ("mcts:runs/p,runs/v?simulations=50", AgentSpec("mcts", "runs/p,runs/v", {"simulations": "50"})),
        ("s-a:runs/a=b", AgentSpec("s-a", "runs/a=b")),
        ("s-a:runs/why%3F%2520", AgentSpec("s-a", "runs/why?%20")),
        ("uci:C:/e.exe?option.A%20B=x%26y", AgentSpec("uci", "C:/e.exe", {"option.A B": "x&y"})),
    ],
)
def test_texts_are_cut_where_they_should(text: str, expected: AgentSpec) -> None:
    assert AgentSpec.parse(text) == expected


def test_the_default_agent_is_one() -> None:
    assert DEFAULT_AGENT in KINDS
