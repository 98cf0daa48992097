"""agent(text) -> Agent: every player of the project from one short text. docs/agents.md is its manual."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from diffusearch.agents.base import Agent
from diffusearch.agents.options import FAN, SWITCH, WARMTH, Kind, Option, choice, integer, nearest, read, real
from diffusearch.agents.text import AgentText, cut, pairs
from diffusearch.diffusion.orders import ORDERS
from diffusearch.errors import UserError

if TYPE_CHECKING:
    from diffusearch.diffusion.decoding import Decoding
    from diffusearch.search.settings import Settings

SEED = Option("seed", integer(0), 0, "the lots that are drawn; the same seed in the same game gives the same move")
TEMPERATURE = Option("temperature", WARMTH, 0.0, "0 plays the best move, 1 draws from the shares")
TOKEN_TEMPERATURE = Option("temperature", WARMTH, 0.0, "0 takes the likeliest tokens, 1 draws them")
STRENGTH = Option("strength", integer(0, 100), 100, "the dial: 100 full, 50 draws from the shares, 0 any legal move")


@dataclass(frozen=True)
class Player:
    """One word of the grammar: what may follow it and how the agent is made."""

    word: str
    argument: str  # for people: "", "RUN", "POLICY_RUN,VALUE_RUN" or "PATH"
    help: str
    options: tuple[Option, ...]
    make: Callable[[AgentText, dict[str, Any]], Agent]
    needs_argument: bool = False
    engine_options: bool = False  # `option.NAME=VALUE` is passed on to the engine


def agent(text: str) -> Agent:
    """The agent that a text names; its `name` is the text. A UserError says what is wrong with the text."""
    parts = cut(text)
    player = PLAYERS.get(parts.word)
    if player is None:
        hint = nearest(parts.word, PLAYERS) or "."
        raise UserError(f"there is no agent '{parts.word}'{hint} The agents are: {', '.join(PLAYERS)}")
    if parts.argument is not None and not player.argument:
        # `stockfish:nodes=10000`: words that take no argument may have their options straight after the colon
        if "=" not in parts.argument:
            raise UserError(f"agent '{parts.whole}' takes only options after '{parts.word}:', e.g. {example(player)}")
        given = "&".join([parts.argument, *parts.whole.split("?")[1:]])
        parts = AgentText(parts.whole, parts.word, None, pairs(given, parts.whole))
    if parts.argument is None and player.needs_argument:
        raise UserError(f"agent '{parts.whole}' lacks its {player.argument}; write {parts.word}:{player.argument}")
    options = parts.options
    if player.engine_options:
        options = {name: value for name, value in options.items() if not name.startswith("option.")}
    return player.make(parts, read(player.options, options, parts.whole))


def example(player: Player) -> str:
    """A text with the player's first option, for error messages."""
    first = player.options[0]
    return f"'{player.word}?{first.name}={first.default if first.default is not None else '...'}'"


def _s_a(text: AgentText, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.policy import PolicyAgent
    from diffusearch.agents.runs import run

    return PolicyAgent(run(text.argument, "s-a", "s-a"), name=text.whole, **options)


def _s_v(text: AgentText, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.runs import run
    from diffusearch.agents.values import StateValueAgent

    return StateValueAgent(run(text.argument, "s-v", "s-v"), name=text.whole, **options)


def _sa_v(text: AgentText, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.runs import run
    from diffusearch.agents.values import ActionValueAgent

    return ActionValueAgent(run(text.argument, "sa-v", "sa-v"), name=text.whole, **options)


def _diffusearch(text: AgentText, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.foresight import foresight
    from diffusearch.agents.imagining import ImaginingAgent
    from diffusearch.agents.runs import run
    from diffusearch.diffusion.decoding import Decoding

    net = run(text.argument, "diffusearch", text.word)
    net = net.quantised() if options["int8"] else net
    names = ("steps", "remask", "move_last", "temperature", "film", "cache", "ahead")
    chosen = {name: options[name] for name in names} | {"order": options["order"] or net.usual_order}
    decoding = Decoding(imaginations=options["k"], stop_confidence=options["stop"], **chosen)
    chooser = foresight(net, decoding, options["fan"], options["trust"])
    return ImaginingAgent(net, decoding, text.whole, options["strength"], options["seed"], chooser)


def _direct(text: AgentText, options: dict[str, Any]) -> Agent:
    from diffusearch.diffusion.decoding import Decoding

    return _imagining(text, options, Decoding(steps=1, temperature=options["temperature"]))


def _autoregressive(text: AgentText, options: dict[str, Any]) -> Agent:
    from diffusearch.diffusion.decoding import Decoding

    return _imagining(text, options, Decoding(order="left-to-right", temperature=options["temperature"]))


def _imagining(text: AgentText, options: dict[str, Any], decoding: Decoding) -> Agent:
    from diffusearch.agents.imagining import ImaginingAgent
    from diffusearch.agents.runs import run

    net = run(text.argument, "diffusearch", text.word)
    return ImaginingAgent(net, decoding, text.whole, options["strength"], options["seed"])


def _mcts(text: AgentText, options: dict[str, Any]) -> Agent:
    from diffusearch.search.settings import PRESETS

    settings = PRESETS[options.pop("preset")]
    given = {name: options.pop(name) for name in SEARCH if options[name] is not None}
    if given.get("fpu") == "parent":
        given["fpu"] = None
    return _searcher(text, options, replace(settings, **given))


def _mcts_as_published(text: AgentText, options: dict[str, Any]) -> Agent:
    from diffusearch.search.settings import AS_PUBLISHED

    given = {name: options.pop(name) for name in ("simulations", "cpuct")}
    return _searcher(text, options, replace(AS_PUBLISHED, **{name: v for name, v in given.items() if v is not None}))


def _searcher(text: AgentText, options: dict[str, Any], settings: Settings) -> Agent:
    from diffusearch.agents.runs import run
    from diffusearch.agents.searching import SearchAgent

    names = [None, None] if text.argument is None else text.argument.split(",")
    if len(names) == 1:  # one run for both: it must know moves and values
        names *= 2
    if len(names) != 2 or "" in names:
        raise UserError(f"agent '{text.whole}' needs POLICY_RUN,VALUE_RUN (or one run that has both) after its colon")
    options = {name: options[name] for name in ("strength", "seed")}
    return SearchAgent(run(names[0], "s-a", "s-a"), run(names[1], "s-v", "s-v"), settings, text.whole, **options)


def _random(text: AgentText, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.simple import RandomAgent

    return RandomAgent(name=text.whole, **options)


def _greedy(text: AgentText, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.simple import GreedyMaterialAgent

    return GreedyMaterialAgent(name=text.whole, **options)


def _stockfish(text: AgentText, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.engine import EngineAgent, limit_from
    from diffusearch.data.uci_process import find_engine

    if options["elo"] is not None and options["skill"] is not None:
        raise UserError(f"agent '{text.whole}' has both elo and skill; Stockfish heeds only one, keep one of them")
    settings: dict[str, str | int | bool | None] = {"Threads": options["threads"], "Hash": options["hash"]}
    if options["elo"] is not None:
        settings |= {"UCI_LimitStrength": True, "UCI_Elo": options["elo"]}
    if options["skill"] is not None:
        settings["Skill Level"] = options["skill"]
    settings |= _passed_on(text)
    return EngineAgent(find_engine(None), limit_from(options), name=text.whole, options=settings)


def _uci(text: AgentText, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.engine import EngineAgent, limit_from

    assert text.argument is not None  # the grammar asked for it
    return EngineAgent(text.argument, limit_from(options), name=text.whole, options=_passed_on(text))


def _passed_on(text: AgentText) -> dict[str, str | int | bool | None]:
    return {name.removeprefix("option."): value for name, value in text.options.items() if name.startswith("option.")}


NODES = Option("nodes", integer(1), None, "nodes a move (10000 if no limit is given)")
DEPTH = Option("depth", integer(1, 245), None, "depth in plies")
MOVETIME = Option("movetime", integer(1), None, "milliseconds a move")

SIMULATIONS = Option("simulations", integer(1), None, "new simulations a move (100)")
CPUCT = Option("cpuct", real(0.0), None, "exploration, for values in [0, 1]")
# Options of mcts that change its settings; None keeps the preset's value.
SEARCH = ("simulations", "cpuct", "fpu", "reduction", "temperature", "parallel", "prove", "reuse")


def _first_play(text: str) -> float | str:
    return text if text == "parent" else UNIT.parse(text)


UNIT = real(0.0, 1.0)

_ALL = (
    Player(
        "diffusearch",
        "RUN",
        "imagines the future with its move: discrete diffusion",
        (
            Option("steps", integer(1, 1000), 20, "denoising steps"),
            Option("order", choice(*ORDERS), None, "which variables are fixed first (turns, or plies without states)"),
            Option("k", integer(1, 1024), 1, "imaginations side by side; the likeliest is played"),
            Option("fan", FAN, None, "moves followed at each turn into imagined futures; 1 follows none"),
            Option("trust", real(0.0, 100.0), None, "with a fan: how much those futures weigh against a move's share"),
            Option("remask", SWITCH, False, "variables fixed early may be noised again"),
            Option("move_last", SWITCH, False, "keep the move open until the last step"),
            TOKEN_TEMPERATURE,
            Option("stop", real(0.0, 1.0), None, "stop early when all open variables are at least this likely"),
            Option("film", SWITCH, False, "keep every denoising step, for pictures"),
            Option("cache", SWITCH, False, "compute only what is noised or newly fixed: faster, not exact"),
            Option("ahead", integer(1, 1000), None, "with cache: noised places computed for each that is fixed (all)"),
            Option("int8", SWITCH, False, "8-bit weights in the trunk: faster on a CPU, not exact"),
            STRENGTH,
            SEED,
        ),
        _diffusearch,
    ),
    Player(
        "direct",
        "RUN",
        "predicts move and future at once, without denoising",
        (TOKEN_TEMPERATURE, STRENGTH, SEED),
        _direct,
        needs_argument=True,
    ),
    Player(
        "autoregressive",
        "RUN",
        "predicts move and future token by token",
        (TOKEN_TEMPERATURE, STRENGTH, SEED),
        _autoregressive,
        needs_argument=True,
    ),
    Player("s-a", "RUN", "the policy's likeliest move", (TEMPERATURE, STRENGTH, SEED), _s_a),
    Player("s-v", "RUN", "the move whose next state is worst for the opponent", (TEMPERATURE, STRENGTH, SEED), _s_v),
    Player(
        "sa-v", "RUN", "the move with the best action value", (TEMPERATURE, STRENGTH, SEED), _sa_v, needs_argument=True
    ),
    Player(
        "mcts",
        "POLICY_RUN,VALUE_RUN",
        "tree search with a policy and a value network",
        (
            SIMULATIONS,
            Option("preset", choice("tuned", "paper"), "tuned", "where the other settings start from"),
            CPUCT,
            Option("fpu", Kind("parent or a number from 0 to 1", _first_play), None, "value of an unvisited move"),
            Option("reduction", real(0.0, 1.0), None, "for fpu=parent: how far below the node's value"),
            Option("temperature", WARMTH, None, "0 plays the most visited move, 1 in proportion to visits"),
            Option("parallel", integer(1, 1024), None, "leaves evaluated in one batch"),
            Option("prove", SWITCH, None, "carry forced mates and draws up the tree"),
            Option("reuse", SWITCH, None, "keep the tree between the moves of a game"),
            STRENGTH,
            SEED,
        ),
        _mcts,
    ),
    Player(
        "mcts-as-published",
        "POLICY_RUN,VALUE_RUN",
        "the authors' search with its two sign errors",
        (SIMULATIONS, CPUCT, STRENGTH, SEED),
        _mcts_as_published,
    ),
    Player(
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
        _stockfish,
        engine_options=True,
    ),
    Player("uci", "PATH", "any UCI engine", (NODES, DEPTH, MOVETIME), _uci, needs_argument=True, engine_options=True),
    Player("random", "", "any legal move", (SEED,), _random),
    Player("greedy-material", "", "mates, else takes the most, one ply deep", (SEED,), _greedy),
)
PLAYERS: dict[str, Player] = {player.word: player for player in _ALL}
