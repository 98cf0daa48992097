"""agent(text) -> Agent: every player of the project from one short text. docs/agents.md is its manual."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from diffusearch.agents import make
from diffusearch.agents.base import Agent
from diffusearch.agents.options import SWITCH, TEMPERATURES, WIDTHS, Kind, Option, choice, integer, nearest, read, real
from diffusearch.agents.spec import AgentSpec
from diffusearch.diffusion.orders import ORDERS
from diffusearch.errors import UserError
from diffusearch.inference.backend_names import BACKENDS
from diffusearch.tokens import drafts

SEED = Option("seed", integer(0), 0, "of the sampling; the same seed in the same game gives the same move")
TEMPERATURE = Option("temperature", TEMPERATURES, 0.0, "0 plays the best move, 1 samples from the probabilities")
TOKEN_TEMPERATURE = Option("temperature", TEMPERATURES, 0.0, "0 takes the likeliest tokens, 1 samples them")
STRENGTH = Option("strength", integer(0, 100), 100, "100 full, 50 samples from the probabilities, 0 any legal move")
BACKEND = Option("backend", choice(*BACKENDS), "auto", "who computes the network (auto: onnx where the run has graphs)")
INT8 = Option("int8", SWITCH, False, "8-bit weights in the trunk: faster on a CPU, not exact")


@dataclass(frozen=True)
class AgentKind:
    """One word of the grammar: what may follow it and how the agent is made."""

    word: str
    argument: str  # for people: "", "RUN", "POLICY_RUN,VALUE_RUN" or "PATH"
    help: str
    options: tuple[Option, ...]
    make: Callable[[AgentSpec, dict[str, Any]], Agent]
    needs_argument: bool = False
    engine_options: bool = False  # `option.NAME=VALUE` is passed on to the engine


def agent(text: str | AgentSpec) -> Agent:
    """The agent that a text names; its `name` is the text. A UserError says what is wrong with the text."""
    spec, kind, values, whole = _read(text)
    made = kind.make(spec, values)
    made.name = whole
    return made


def check(text: str | AgentSpec) -> None:
    """Refuse a text that is wrong in itself, without looking for the files and networks that it names."""
    _read(text)


def _read(text: str | AgentSpec) -> tuple[AgentSpec, AgentKind, dict[str, Any], str]:
    """A text in its parts: spec, kind and the values of all options, with the text itself for messages."""
    spec = AgentSpec.parse(text) if isinstance(text, str) else text
    whole = text.strip() if isinstance(text, str) else str(text)
    kind = kind_of(spec.word)
    if spec.argument is not None and not kind.argument:
        raise UserError(f"agent '{whole}' takes only options after '{spec.word}:', e.g. {example(kind)}")
    if spec.argument is None and kind.needs_argument:
        raise UserError(f"agent '{whole}' lacks its {kind.argument}; write {spec.word}:{kind.argument}")
    options = spec.options
    if kind.engine_options:
        options = {name: value for name, value in options.items() if not name.startswith("option.")}
    return spec, kind, read(kind.options, options, whole), whole


def kind_of(word: str) -> AgentKind:
    """The kind with this word."""
    if word not in KINDS:
        hint = nearest(word, KINDS) or "."
        raise UserError(f"there is no agent '{word}'{hint} The agents are: {', '.join(KINDS)}")
    return KINDS[word]


def example(kind: AgentKind) -> str:
    """A text with the first option, for error messages."""
    first = kind.options[0]
    return f"'{kind.word}?{first.name}={first.default if first.default is not None else '...'}'"


def may_film(spec: AgentSpec) -> bool:
    """Whether the agent has the option `film`, and its text leaves that open."""
    known = KINDS[spec.word].options if spec.word in KINDS else ()
    return "film" not in spec.options and any(option.name == "film" for option in known)


NODES = Option("nodes", integer(1), None, "nodes a move (10000 if no limit is given)")
DEPTH = Option("depth", integer(1, 245), None, "depth in plies")
MOVETIME = Option("movetime", integer(1), None, "milliseconds a move")


def _first_play(text: str) -> float | str:
    return text if text == "parent" else UNIT.parse(text)


UNIT = real(0.0, 1.0)

SIMULATIONS = Option("simulations", integer(1), None, "new simulations a move (100)")
CPUCT = Option("cpuct", real(0.0), None, "exploration, for values in [0, 1]")
# Options of MCTS that change its settings; None keeps the preset's value.
TREE = (
    SIMULATIONS,
    CPUCT,
    Option("fpu", Kind("parent or a number from 0 to 1", _first_play), None, "value of an unvisited move"),
    Option("reduction", real(0.0, 1.0), None, "for fpu=parent: how far below the node's value"),
    Option("parallel", integer(1, 1024), None, "leaves evaluated in one batch"),
    Option("prove", SWITCH, None, "back up forced mates and draws as certain"),
    Option("reuse", SWITCH, None, "keep the tree between the moves of a game"),
)
_ALL = (
    AgentKind(
        "diffusearch",
        "RUN",
        "denoises its move together with the future, or with drafts in sight, as its run's [decoding] says",
        (
            Option("steps", integer(1, 1000), None, "denoising steps, or network calls with drafts; 1 is one look"),
            Option("drafts", integer(0, 64), None, "first moves that are drafted and read; 0: joint denoising"),
            Option("depth", integer(1, drafts.DEPTH), None, "plies of a draft"),
            Option("rounds", integer(0, 64), None, "times that the leading move gets a second reply"),
            Option("order", choice(*ORDERS), None, "which variables are fixed first"),
            Option("carry", choice("predict", "keep", "gumbel"), None, "what becomes of variables that are visible"),
            Option("horizon", integer(1, 64), None, "plies of the future"),
            Option("k", integer(1, 1024), None, "records denoised side by side; the likeliest is played"),
            Option("move_last", SWITCH, None, "keep the move noised until the last step"),
            Option("temperature", TEMPERATURES, None, "0 takes the likeliest tokens, 1 samples them"),
            Option("legal", SWITCH, None, "only legal moves at the root"),
            Option("stop", real(0.0, 1.0), None, "stop when all noised variables are at least this likely"),
            Option("film", SWITCH, False, "record every step of joint denoising"),
            Option("cache", SWITCH, None, "compute only what is noised or newly fixed (torch): faster, not exact"),
            Option("ahead", integer(1, 1000), None, "with cache: noised places computed for each that is fixed (all)"),
            INT8,
            BACKEND,
            STRENGTH,
            SEED,
        ),
        make.diffusearch,
    ),
    AgentKind(
        "search",
        "RUN",
        "explicit search: a planner over the network's evaluations and the next states",
        (
            Option("planner", choice(*make.PLANNERS), "minimax", "how it looks ahead"),
            Option("dynamics", choice("imagined", "rules"), "imagined", "who makes the next states: network or rules"),
            Option("widths", WIDTHS, None, "minimax: moves that are expanded at each ply (4x2x2x1)"),
            Option("value_weight", real(0.0, 100.0), None, "minimax: weight of log odds against log priors (12)"),
            Option("backup", choice("line-mean", "half-max"), None, "minimax: how values go up the tree (line-mean)"),
            Option(
                "margin", real(0.0, 1000.0), None, "minimax: first moves so far behind are not searched deeper (none)"
            ),
            Option("depth", integer(1, 64), None, "rollout: plies (4)"),
            *TREE,
            TEMPERATURE,
            INT8,
            BACKEND,
            STRENGTH,
            SEED,
        ),
        make.search,
    ),
    AgentKind(
        "direct",
        "RUN",
        "predicts move and future at once, without denoising",
        (TOKEN_TEMPERATURE, BACKEND, STRENGTH, SEED),
        make.direct,
        needs_argument=True,
    ),
    AgentKind(
        "autoregressive",
        "RUN",
        "predicts move and future token by token",
        (TOKEN_TEMPERATURE, BACKEND, STRENGTH, SEED),
        make.autoregressive,
        needs_argument=True,
    ),
    AgentKind("s-a", "RUN", "the policy's likeliest move", (TEMPERATURE, BACKEND, STRENGTH, SEED), make.policy),
    AgentKind(
        "s-v",
        "RUN",
        "the move whose next state is worst for the opponent",
        (TEMPERATURE, BACKEND, STRENGTH, SEED),
        make.state_value,
    ),
    AgentKind(
        "sa-v",
        "RUN",
        "the move with the best action value",
        (TEMPERATURE, BACKEND, STRENGTH, SEED),
        make.action_value,
        needs_argument=True,
    ),
    AgentKind(
        "mcts",
        "POLICY_RUN,VALUE_RUN",
        "the paper's MCTS by the rules, with a policy and a value network",
        (
            Option("preset", choice("tuned", "paper"), "tuned", "where the other settings start from"),
            *TREE,
            Option("temperature", TEMPERATURES, None, "0 plays the most visited move, 1 in proportion to visits"),
            BACKEND,
            STRENGTH,
            SEED,
        ),
        make.mcts,
    ),
    AgentKind(
        "mcts-as-published",
        "POLICY_RUN,VALUE_RUN",
        "the authors' search with its two sign errors",
        (SIMULATIONS, CPUCT, BACKEND, STRENGTH, SEED),
        make.mcts_as_published,
    ),
    AgentKind(
        "stockfish",
        "",
        "Stockfish with one limit, at full or lowered strength",
        (
            NODES,
            DEPTH,
            MOVETIME,
            Option("elo", integer(0), None, "Stockfish's own UCI_Elo"),
            Option("skill", integer(0, 20), None, "Stockfish's Skill Level"),
            Option("threads", integer(1), 1, "threads; more than one makes games unrepeatable"),
            Option("hash", integer(1), 16, "megabytes of hash"),
        ),
        make.stockfish,
        engine_options=True,
    ),
    AgentKind(
        "uci", "PATH", "any UCI engine", (NODES, DEPTH, MOVETIME), make.uci, needs_argument=True, engine_options=True
    ),
    AgentKind("random", "", "any legal move", (SEED,), make.random),
    AgentKind("greedy-material", "", "mates, else takes the most, one ply deep", (SEED,), make.greedy),
)
KINDS: dict[str, AgentKind] = {kind.word: kind for kind in _ALL}
