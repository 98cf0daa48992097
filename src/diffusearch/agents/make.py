"""How each kind of agent is made from its spec and its options. A back end is imported only with a network."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from diffusearch.agents.base import Agent
from diffusearch.agents.spec import AgentSpec
from diffusearch.agents.strength import Strength
from diffusearch.errors import UserError
from diffusearch.extras import require

if TYPE_CHECKING:
    from diffusearch.diffusion.decoding import Decoding
    from diffusearch.inference.run import Run
    from diffusearch.search.dynamics import Dynamics
    from diffusearch.search.evaluator import Evaluator
    from diffusearch.search.mcts.settings import Settings
    from diffusearch.search.planner import Planner

# Which planner an option of `search` belongs to.
_MCTS = ("simulations", "cpuct", "fpu", "reduction", "parallel", "prove", "reuse")
_MINIMAX = ("widths", "value_weight", "backup", "margin")
OWNERS = {"depth": "rollout"} | dict.fromkeys(_MINIMAX, "minimax") | dict.fromkeys(_MCTS, "mcts")


def policy(spec: AgentSpec, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.policy import PolicyAgent

    net = _run(spec, "s-a", options.pop("backend"))
    return PolicyAgent(net, provenance=net.provenance, evaluator=net if net.has_value else None, **options)


def state_value(spec: AgentSpec, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.values import StateValueAgent

    net = _run(spec, "s-v", options.pop("backend"))
    return StateValueAgent(net, provenance=net.provenance, **options)


def action_value(spec: AgentSpec, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.values import ActionValueAgent

    net = _run(spec, "sa-v", options.pop("backend"))
    return ActionValueAgent(net, provenance=net.provenance, **options)


def _run(spec: AgentSpec, packaged: str, backend: str) -> Run:
    """The run of an agent's text, or the packaged one of that name."""
    from diffusearch.agents.runs import run

    return run(spec.argument, packaged, spec.word, backend)


def _backend(options: dict[str, Any]) -> str:
    """The back end of `diffusearch`: where it is left open, `cache` asks for torch, which alone has it."""
    if options["backend"] != "auto" or not options["cache"]:
        return str(options["backend"])
    require("torch", "cache=on")
    return "torch"


# Options of `diffusearch` that are fields of its run's [decoding]; None keeps the run's own.
DECODING = {"k": "imaginations", "stop": "stop_confidence"} | {
    name: name
    for name in (
        *("steps", "order", "carry", "move_last", "temperature", "legal", "cache", "ahead"),
        *("drafts", "depth", "rounds"),
    )
}


def asks_joint_denoising(spec: AgentSpec) -> bool:
    """Whether an option in the agent's text belongs to joint denoising, which reads no drafts."""
    from diffusearch.diffusion.decoding import JOINT

    return "horizon" in spec.options or any(DECODING.get(name) in JOINT for name in spec.options)


def diffusearch(spec: AgentSpec, options: dict[str, Any]) -> Agent:
    net = _run(spec, "diffusearch", _backend(options))
    net = net.quantised() if options["int8"] else net
    given = {field: options[name] for name, field in DECODING.items() if options[name] is not None}
    decoding = net.recipe.decoding.changed(options["horizon"], **given)
    if options["film"] and decoding.drafts:
        raise UserError(
            f"agent '{spec}' drafts, and a film has the steps of joint denoising: add order=confidence, which denoises "
            "jointly, or leave film out"
        )
    return _imagining(net, decoding, options, horizon=options["horizon"], film=options["film"])


def direct(spec: AgentSpec, options: dict[str, Any]) -> Agent:
    from diffusearch.diffusion.decoding import Decoding

    net = _run(spec, "diffusearch", options["backend"])
    return _imagining(net, Decoding(steps=1, temperature=options["temperature"]), options, horizon=net.horizon)


def autoregressive(spec: AgentSpec, options: dict[str, Any]) -> Agent:
    from diffusearch.diffusion.decoding import Decoding

    decoding = Decoding(order="left-to-right", temperature=options["temperature"])
    return _imagining(_run(spec, "diffusearch", options["backend"]), decoding, options)


def _imagining(
    net: Run, decoding: Decoding, options: dict[str, Any], *, horizon: int | None = None, film: bool = False
) -> Agent:
    from diffusearch.agents.imagining import ImaginingAgent
    from diffusearch.drafts.revising import imaginer

    if reason := net.backend.refusal(decoding, horizon or net.horizon):
        raise UserError(f"{reason}: write backend=torch")
    strength, seed = options["strength"], options["seed"]
    evaluator = net if net.has_value else None
    return ImaginingAgent(
        imaginer(net, decoding), decoding, strength=strength, seed=seed, horizon=horizon, film=film, evaluator=evaluator
    )


def search(spec: AgentSpec, options: dict[str, Any]) -> Agent:
    from diffusearch.search.dynamics import Imagined, Rules

    planner = options["planner"]
    for name, owner in OWNERS.items():
        if options[name] is not None and planner != owner:
            raise UserError(f"option {name} of '{spec}' belongs to planner={owner}, not to planner={planner}")
    networks, evaluator, provenance = _networks(
        spec, ("diffusearch", "diffusearch"), options["backend"], int8=options["int8"]
    )
    if options["dynamics"] == "imagined" and not networks[0].predicts_states:
        raise UserError(
            f"run '{networks[0].name}' ({networks[0].paradigm}) predicts no states: write dynamics=rules, or name an "
            "s-asa run of absorbing diffusion"
        )
    dynamics: Dynamics = Imagined(networks[0]) if options["dynamics"] == "imagined" else Rules()
    return _searching(PLANNERS[planner](evaluator, dynamics, options), options, provenance, evaluator)


def _minimax(evaluator: Evaluator, dynamics: Dynamics, options: dict[str, Any]) -> Planner:
    from diffusearch.search.minimax.backup import BACKUPS
    from diffusearch.search.minimax.planner import VALUE_WEIGHT, WIDTHS, Minimax

    widths = options["widths"] or WIDTHS
    weight = VALUE_WEIGHT if options["value_weight"] is None else options["value_weight"]
    depth = Strength(options["strength"]).scaled(len(widths))
    backup = BACKUPS[options["backup"] or "line-mean"]
    margin = math.inf if options["margin"] is None else options["margin"]
    return Minimax(evaluator, dynamics, widths[:depth], weight, backup, margin)


def _tuned_mcts(evaluator: Evaluator, dynamics: Dynamics, options: dict[str, Any]) -> Planner:
    from diffusearch.search.mcts.planner import Mcts
    from diffusearch.search.mcts.settings import TUNED

    return Mcts(evaluator, dynamics, _settings(TUNED, options))


def _rollout(evaluator: Evaluator, dynamics: Dynamics, options: dict[str, Any]) -> Planner:
    from diffusearch.search.rollout import DEPTH, Rollout

    return Rollout(evaluator, dynamics, Strength(options["strength"]).scaled(options["depth"] or DEPTH))


# The planners of `search` by name.
PLANNERS: dict[str, Callable[[Evaluator, Dynamics, dict[str, Any]], Planner]] = {
    "minimax": _minimax,
    "mcts": _tuned_mcts,
    "rollout": _rollout,
}


def mcts(spec: AgentSpec, options: dict[str, Any]) -> Agent:
    from diffusearch.search.mcts.settings import PRESETS

    return _paper_mcts(spec, options, _settings(PRESETS[options["preset"]], options))


def mcts_as_published(spec: AgentSpec, options: dict[str, Any]) -> Agent:
    from diffusearch.search.mcts.settings import AS_PUBLISHED

    return _paper_mcts(spec, options, _settings(AS_PUBLISHED, options))


def _paper_mcts(spec: AgentSpec, options: dict[str, Any], settings: Settings) -> Agent:
    """MCTS by the rules with a policy and a value network: the paper's baseline."""
    from diffusearch.search.mcts.planner import Mcts

    _, evaluator, provenance = _networks(spec, ("s-a", "s-v"), options["backend"])
    chosen = options | {"temperature": settings.temperature}
    return _searching(Mcts(evaluator, settings=settings), chosen, provenance, None)


def _searching(
    planner: Planner, options: dict[str, Any], provenance: dict[str, Any], evaluator: Evaluator | None
) -> Agent:
    from diffusearch.agents.searching import SearchAgent

    chosen = {name: options[name] for name in ("temperature", "strength", "seed")}
    return SearchAgent(planner, provenance=provenance, evaluator=evaluator, **chosen)


def _networks(
    spec: AgentSpec, packaged: tuple[str, str], backend: str, *, int8: bool = False
) -> tuple[tuple[Run, Run], Evaluator, dict[str, Any]]:
    """The policy's run, the value's run, both as one evaluator, and their provenance. One name stands for both."""
    from diffusearch.agents.runs import run
    from diffusearch.search.evaluator import PolicyAndValue

    names: list[str | None] = [None, None] if spec.argument is None else list(spec.argument.split(","))
    if len(names) == 1:
        names *= 2
    if len(names) != 2 or "" in names:
        raise UserError(f"agent '{spec}' needs POLICY_RUN,VALUE_RUN (or one run that has both) after its colon")
    policy, value = run(names[0], packaged[0], "s-a", backend), run(names[1], packaged[1], None, backend)
    if not value.has_value:
        raise UserError(
            f"{spec.word} needs values, and the run '{value.name}' has none: train with model.root_value = true, "
            f"name a second run with values ({spec.word}:RUN,VALUE_RUN), or play the run as diffusearch"
        )
    if policy is value:
        policy = value = policy.quantised() if int8 else policy
        return (policy, value), policy, policy.provenance
    policy, value = (policy.quantised(), value.quantised()) if int8 else (policy, value)
    provenance = {"policy": policy.provenance, "value": value.provenance}
    return (policy, value), PolicyAndValue(policy, value), provenance


def _settings(preset: Settings, options: dict[str, Any]) -> Settings:
    """A preset of MCTS with the options that are given, and simulations in proportion to the strength."""
    given = {one.name: options[one.name] for one in fields(preset) if options.get(one.name) is not None}
    if given.get("fpu") == "parent":
        given["fpu"] = None
    settings = replace(preset, **given)
    return replace(settings, simulations=Strength(options["strength"]).scaled(settings.simulations))


def random(spec: AgentSpec, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.simple import RandomAgent

    return RandomAgent(**options)


def greedy(spec: AgentSpec, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.simple import GreedyMaterialAgent

    return GreedyMaterialAgent(**options)


def stockfish(spec: AgentSpec, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.engine import EngineAgent, limit_from
    from diffusearch.data.uci_process import find_engine

    if options["elo"] is not None and options["skill"] is not None:
        raise UserError(f"agent '{spec}' has both elo and skill; Stockfish takes only one, keep one of them")
    settings: dict[str, str | int | bool | None] = {"Threads": options["threads"], "Hash": options["hash"]}
    if options["elo"] is not None:
        settings |= {"UCI_LimitStrength": True, "UCI_Elo": options["elo"]}
    if options["skill"] is not None:
        settings["Skill Level"] = options["skill"]
    settings |= _passed_on(spec)
    return EngineAgent(find_engine(None), limit_from(options), name=str(spec), options=settings)


def uci(spec: AgentSpec, options: dict[str, Any]) -> Agent:
    from diffusearch.agents.engine import EngineAgent, limit_from

    assert spec.argument is not None  # the grammar asked for it
    return EngineAgent(spec.argument, limit_from(options), name=str(spec), options=_passed_on(spec))


def _passed_on(spec: AgentSpec) -> dict[str, str | int | bool | None]:
    return {name.removeprefix("option."): value for name, value in spec.options.items() if name.startswith("option.")}
