"""The back end of onnxruntime: the graphs that lie beside the weights, computed without torch.

evaluate   roots -> first moves, values, and the context that the others need
value      roots -> values and the context alone
predict    moves at roots -> the states after them
revise     drafts -> scores of the drafted moves
denoise    partly noised records -> logits of their variables
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from diffusearch.diffusion.decoding import Bools, Decoding, Floats, Ints
from diffusearch.diffusion.sampling import Progress, Sample, denoise
from diffusearch.errors import UserError
from diffusearch.graphs.about import KEY, check_facts, check_kind, facts, graph_file, graph_names
from diffusearch.graphs.weights_file import check_whole
from diffusearch.inference.backend import DraftArrays, DraftReading, Look, RootContext
from diffusearch.inference.threads import threads
from diffusearch.tokens.layout import Group, Layout
from diffusearch.tokens.record_tokens import masked_record
from diffusearch.training.recipe import Recipe

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


@dataclass(frozen=True)
class OnnxContext:
    """Roots with their hidden states, keys and values under prefix attention."""

    given: Ints
    hidden: Floats | None
    past: Floats | None  # [2 x layers, batch, heads, given places, head width]

    @property
    def inputs(self) -> dict[str, Any]:
        """As the graphs take it, without the roots themselves."""
        return {} if self.hidden is None else {"hidden": self.hidden, "past": self.past}


class OnnxBackend:
    """The graphs of a run folder; each is opened when it is needed first."""

    name = "onnx"
    # Larger ones are no faster on a CPU, and onnxruntime keeps the memory of the largest one (docs/onnx.md).
    batch = 32

    def __init__(self, folder: Path, recipe: Recipe, fingerprint: str, *, int8: bool = False) -> None:
        """`fingerprint` is the SHA-256 of the weights' file. `int8`: the graphs with 8-bit weights in the trunk."""
        self.folder, self.recipe, self.fingerprint, self.int8 = folder, recipe, fingerprint, int8
        self.near = recipe.trained_layout()  # what `evaluate` looks at
        self.facts = facts(recipe, fingerprint)
        self.graphs = graph_names(recipe)
        for name in self.graphs:
            if not (path := graph_file(folder, name, int8=int8)).is_file():
                raise UserError(
                    f"{path} is not there: make the graphs with `diffusearch export --graphs`, or choose backend=torch"
                )
        self._sessions: dict[str, tuple[int, InferenceSession]] = {}  # with the threads of each
        self._outputs: dict[str, list[str]] = {}
        check_whole(folder / "weights.safetensors")  # all graphs read it
        self._session("evaluate")  # what is wrong with the files shows now

    def quantised(self) -> OnnxBackend:
        return OnnxBackend(self.folder, self.recipe, self.fingerprint, int8=True)

    def open_all(self) -> None:
        """Open every graph, also those that are needed later; what is wrong with a file is refused."""
        for name in self.graphs:
            self._session(name)

    def refusal(self, decoding: Decoding, horizon: int) -> str | None:
        if decoding.cache:
            return "cache reuses keys and values, which only torch does"
        if horizon > self.recipe.model.horizon:
            return f"the graphs end at horizon {self.recipe.model.horizon}, and {horizon} was asked for"
        return None

    def look(self, given: Ints, layout: Layout, *, moves: bool = True) -> Look:
        found = self._call("evaluate" if moves or "value" not in self.graphs else "value", {"given": given})
        context = OnnxContext(given, found.get("hidden"), found.get("past"))
        return Look(found.get("moves") if moves else None, found.get("value"), context)

    def read_roots(self, given: Ints, layout: Layout) -> RootContext:
        return self.look(given, layout, moves=False).context

    def next_states(self, context: RootContext, rows: Ints, moves: Ints, layout: Layout) -> tuple[Ints, Floats]:
        assert isinstance(context, OnnxContext)
        action, state = layout.segment("a", 0), layout.segment("s", 1)
        assert action is not None
        assert state is not None
        found = self._call("predict", {"given": context.given, "rows": rows, "moves": moves} | context.inputs)
        x = masked_record(context.given[rows], layout)
        x[:, action.start] = moves
        x[:, state.start : state.start + len(layout.encoding.slots)] = found["states"]
        return x, found["log_probability"].astype(np.float64)

    def action_values(self, given: Ints, layout: Layout) -> Floats:
        values: Floats = self._call("evaluate", {"given": given})["value"]
        return values

    def read_drafts(self, drafts: DraftArrays) -> DraftReading:
        found = self._call("revise", drafts._asdict())
        return DraftReading(found["scores"], float(found["scale"]), found["wins"])

    def sample(
        self,
        given: Ints,
        layout: Layout,
        decoding: Decoding,
        generator: np.random.Generator,
        allowed: Bools | None,
        film: bool,
    ) -> Sample:
        if reason := self.refusal(decoding, layout.horizon):
            raise UserError(f"{reason}: choose backend=torch")
        process = self.recipe.process
        timesteps = 1 if process.kind == "direct" else process.timesteps
        network = OnnxNetwork(self, self.look(given, layout))
        return denoise(network, given, layout, decoding, timesteps, generator, allowed, film=film)

    def _call(self, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """The outputs of a graph by name."""
        session = self._session(name)
        names = self._outputs[name]
        return dict(zip(names, session.run(names, inputs), strict=True))

    def _session(self, name: str) -> InferenceSession:
        count = threads()
        if name not in self._sessions or self._sessions[name][0] != count:
            session = self._open(name, count)
            self._sessions[name] = count, session
            self._outputs[name] = [output.name for output in session.get_outputs()]
        return self._sessions[name][1]

    def _open(self, name: str, count: int) -> InferenceSession:
        path = graph_file(self.folder, name, int8=self.int8)
        session = open_graph(path, self.facts, count)
        inputs, outputs = ([one.name for one in some] for some in (session.get_inputs(), session.get_outputs()))
        check_kind(path, name, self.recipe, inputs, outputs, int8=self.int8)
        return session


class OnnxNetwork:
    """The graphs while a batch of records is denoised."""

    def __init__(self, backend: OnnxBackend, look: Look) -> None:
        self.backend, self.look = backend, look
        self.value_logits = look.value_logits

    def logits(self, x: Ints, layout: Layout, groups: Sequence[Group], progress: Progress | None) -> dict[str, Floats]:
        context = self.look.context
        assert isinstance(context, OnnxContext)
        if self._is_look(x, layout):
            assert self.look.move_logits is not None
            return {"action": self.look.move_logits[:, None]}
        found = self.backend._call("denoise", {"record": x} | context.inputs)
        if groups is layout.groups:
            return {group.type: found[group.type] for group in groups}
        return {group.type: found[group.type][:, self._rows(layout, group)] for group in groups}

    def _is_look(self, x: Ints, layout: Layout) -> bool:
        """Whether the records are roots with a masked first move and nothing else, which `evaluate` has seen."""
        return layout is self.backend.near and layout.predicted == 1 and bool((x[:, -1] == layout.sizes[-1]).all())

    @staticmethod
    def _rows(layout: Layout, group: Group) -> Ints | slice:
        """Where a group, or a part of one, stands among the outputs of its type."""
        whole = next(one for one in layout.groups if one.type == group.type)
        if len(whole.variables) == len(group.variables):
            return slice(None)
        return np.flatnonzero(np.isin(whole.variables, group.variables))


_sharing = threading.Lock()  # two threads may open graphs at once
_shared = False


def _share_memory() -> None:
    """One pool of memory for all graphs of the process, which grows by what is asked for, not by doubling."""
    global _shared
    with _sharing:
        if not _shared:
            _register_pool()
            _shared = True


def _register_pool() -> None:
    import onnxruntime

    pool = onnxruntime.OrtMemoryInfo(
        "Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, onnxruntime.OrtMemType.DEFAULT
    )
    onnxruntime.create_and_register_allocator(pool, onnxruntime.OrtArenaCfg({"arena_extend_strategy": 1}))


def open_graph(path: Path, wanted: str, count: int) -> InferenceSession:
    """A graph in onnxruntime with `count` threads; damaged and foreign files are refused."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = count, 1
    options.log_severity_level = 4  # errors come as exceptions
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting threads leave the processor
    _share_memory()
    options.add_session_config_entry("session.use_env_allocators", "1")
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own exceptions have no other class in common
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"{path} cannot be opened by onnxruntime {onnxruntime.__version__} ({reason}): install a newer one, make "
            "the graphs anew with `diffusearch export --graphs`, or choose backend=torch"
        ) from None
    check_facts(session.get_modelmeta().custom_metadata_map.get(KEY), wanted, path)
    return session
