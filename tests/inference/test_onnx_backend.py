"""The back end of onnxruntime: chosen where it serves, the same decisions as torch, and bad files refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import chess
import onnx
import pytest

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.orders import ORDERS
from diffusearch.errors import UserError
from diffusearch.graphs.about import KEY
from diffusearch.graphs.files import write_graphs
from diffusearch.inference import backends
from diffusearch.inference.joint import JointDenoiser
from diffusearch.inference.onnx_backend import OnnxBackend
from diffusearch.inference.roots import given_variables
from diffusearch.inference.run import Run
from diffusearch.inference.threads import threads, use_threads

BOARDS = [
    chess.Board(),
    chess.Board("r3k2r/ppp2ppp/2n1bn2/3qp3/3P4/2N1PN2/PPP2PPP/R2QK2R b KQkq - 0 9"),
    chess.Board("8/5k2/8/3P4/8/2K5/8/8 w - - 0 40"),
]


@pytest.fixture
def run_folder(tiny_run: Path, tmp_path: Path) -> Path:
    """A tiny run with graphs."""
    folder = tmp_path / "run"
    shutil.copytree(tiny_run, folder)
    write_graphs(folder)
    return folder


@pytest.fixture
def both(run_folder: Path) -> tuple[Run, Run]:
    """The same run by torch and by onnxruntime."""
    return Run.load(run_folder, "torch"), Run.load(run_folder, "onnx")


def test_auto_takes_graphs_where_they_are(tiny_run: Path, run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Run.load(tiny_run).backend.name == "torch"
    assert Run.load(run_folder).backend.name == "onnx"
    monkeypatch.setattr(backends, "find_spec", lambda name: None)
    assert Run.load(run_folder).backend.name == "torch"


def test_evaluations_and_states_are_those_of_torch(both: tuple[Run, Run]) -> None:
    ours, theirs = (run.evaluate(BOARDS) for run in both)
    for one, other in zip(ours, theirs, strict=True):
        assert one.priors == pytest.approx(other.priors, rel=1e-3, abs=1e-6)
        assert one.value == pytest.approx(other.value, rel=1e-4)
    moves = [next(iter(board.legal_moves)) for board in BOARDS]
    for given in (None, theirs):
        states = both[0].predict(BOARDS, given or ours, moves), both[1].predict(BOARDS, given or [None] * 3, moves)
        for one_state, other_state in zip(*states, strict=True):
            assert (one_state.squares, one_state.problem) == (other_state.squares, other_state.problem)
            assert one_state.log_probability == pytest.approx(other_state.log_probability, rel=1e-4)
    values = [[one.value for one in run.evaluate(BOARDS, priors=False)] for run in both]
    assert values[0] == pytest.approx(values[1], rel=1e-4)


@pytest.mark.parametrize("order", ORDERS)
def test_records_are_denoised_as_by_torch(both: tuple[Run, Run], order: str) -> None:
    decoding = Decoding(order=order, steps=5, carry="keep", imaginations=2, temperature=0.5)
    if order == "plies":
        both = tuple(_trained_on_all_horizons(run) for run in both)  # type: ignore[assignment]
    ours, theirs = (JointDenoiser(run).imagine(BOARDS, decoding, film=True) for run in both)
    for one, other in zip(ours, theirs, strict=True):
        assert one.move == other.move
        assert [ply.squares for ply in one.line] == [ply.squares for ply in other.line]
        assert one.probabilities == pytest.approx(other.probabilities, rel=1e-3, abs=1e-6)
        assert (one.steps, len(one.film)) == (other.steps, len(other.film))
        assert one.value == pytest.approx(other.value, rel=1e-4)


def _trained_on_all_horizons(run: Run) -> Run:
    return Run(replace(run.recipe, horizons=(1.0,) * run.horizon), run.backend)


def test_what_only_torch_has_is_refused_in_a_sentence(both: tuple[Run, Run], run_folder: Path) -> None:
    with pytest.raises(UserError, match=r"cache .* choose backend=torch"):
        JointDenoiser(both[1]).imagine(BOARDS, Decoding(carry="keep", cache=True))
    with pytest.raises(UserError, match="backend 'jax' is unknown: choose one of auto, onnx, torch"):
        Run.load(run_folder, "jax")


def test_eight_bits_are_close(both: tuple[Run, Run]) -> None:
    exact, small = both[1], both[1].quantised()
    for one, other in zip(small.evaluate(BOARDS), exact.evaluate(BOARDS), strict=True):
        assert one.priors == pytest.approx(other.priors, rel=0.2)
        assert one.value == pytest.approx(other.value, rel=0.05)
    moves = [next(iter(board.legal_moves)) for board in BOARDS]
    states, others = (run.predict(BOARDS, [None] * len(BOARDS), moves) for run in (small, exact))
    assert [one.log_probability for one in states] != [one.log_probability for one in others]
    for one, other in zip(states, others, strict=True):
        assert one.log_probability == pytest.approx(other.log_probability, rel=0.05)


def test_values_alone_are_those_of_a_look(both: tuple[Run, Run]) -> None:
    run = both[1]
    whole, alone = run.evaluate(BOARDS), run.evaluate(BOARDS, priors=False)
    assert [one.value for one in alone] == pytest.approx([one.value for one in whole], rel=1e-5)
    assert not any(one.priors for one in alone)
    moves = [next(iter(board.legal_moves)) for board in BOARDS]
    states, others = run.predict(BOARDS, alone, moves), run.predict(BOARDS, whole, moves)
    assert [one.board for one in states] == [one.board for one in others]


def test_a_missing_graph_is_named(run_folder: Path) -> None:
    (run_folder / "predict.onnx").unlink()
    with pytest.raises(UserError, match=r"predict\.onnx is not there: make the graphs"):
        Run.load(run_folder)
    write_graphs(run_folder)
    (run_folder / "denoise-int8.onnx").unlink()
    with pytest.raises(UserError, match=r"denoise-int8\.onnx is not there"):
        Run.load(run_folder).quantised()
    for path in run_folder.glob("*.onnx"):
        path.unlink()
    with pytest.raises(UserError, match=r"evaluate\.onnx is not there"):
        Run.load(run_folder, "onnx")


@pytest.mark.parametrize("content", [b"", b"no graph at all", b"\x08\x07" * 500])
def test_a_damaged_graph_is_refused(run_folder: Path, content: bytes) -> None:
    (run_folder / "evaluate.onnx").write_bytes(content)
    with pytest.raises(UserError, match=r"evaluate\.onnx (cannot be opened by onnxruntime \d|is no graph)") as error:
        Run.load(run_folder)
    assert "\n" not in str(error.value)


def test_a_cut_graph_is_refused(run_folder: Path) -> None:
    whole = (run_folder / "evaluate.onnx").read_bytes()
    (run_folder / "evaluate.onnx").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match=r"evaluate\.onnx"):
        Run.load(run_folder)


@pytest.mark.parametrize(
    ("copied", "over", "words"),
    [
        ("value", "predict", "predict.onnx holds the graph 'value'"),
        ("predict", "denoise", "denoise.onnx holds the graph 'predict'"),
        ("denoise", "value", "value.onnx holds the graph 'denoise'"),
        ("value", "evaluate", "evaluate.onnx holds the graph 'value'"),
        ("predict-int8", "predict", "predict.onnx holds 'predict' with 8-bit weights"),
    ],
)
def test_another_graph_of_the_run_is_refused(run_folder: Path, copied: str, over: str, words: str) -> None:
    shutil.copy(run_folder / f"{copied}.onnx", run_folder / f"{over}.onnx")
    with pytest.raises(UserError, match=f"{words}.*export --graphs"):
        opened_whole(run_folder)


def test_an_exact_graph_is_no_8_bit_one(run_folder: Path) -> None:
    shutil.copy(run_folder / "predict.onnx", run_folder / "predict-int8.onnx")
    backend = opened_whole(run_folder).quantised()
    with pytest.raises(UserError, match=r"predict-int8\.onnx holds 'predict' without 8-bit weights"):
        backend.open_all()


def opened_whole(folder: Path) -> OnnxBackend:
    """The back end of a run folder with all its graphs."""
    backend = Run.load(folder, "onnx").backend
    assert isinstance(backend, OnnxBackend)
    backend.open_all()
    return backend


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0, "it has 0 bytes"), (0.001, "its header is cut short"), (0.5, r"damaged \(it has \d+ bytes, not \d+\)")],
)
def test_weights_that_are_cut_short_are_named(run_folder: Path, share: float, words: str) -> None:
    weights = run_folder / "weights.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(UserError, match=rf"weights\.safetensors .*{words}.*take it from its source again"):
        Run.load(run_folder)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (None, "is no graph of diffusearch"),
        ("[]", "is no graph of diffusearch"),
        ('{"format": 99}', "has the format 99, and this version reads 1"),
        ('{"format": 1, "weights": "0", "model": "0"}', "was made from other weights"),
    ],
)
def test_a_graph_of_something_else_is_refused(run_folder: Path, facts: str | None, words: str) -> None:
    path = run_folder / "evaluate.onnx"
    model = onnx.load(path, load_external_data=False)
    onnx.helper.set_model_props(model, {} if facts is None else {KEY: facts})
    path.write_bytes(model.SerializeToString())
    with pytest.raises(UserError, match=f"{words}.*diffusearch export --graphs"):
        Run.load(run_folder)


def test_graphs_of_weights_that_changed_are_refused(run_folder: Path) -> None:
    weights = run_folder / "weights.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    with pytest.raises(UserError, match="was made from other weights"):
        Run.load(run_folder)
    recipe = run_folder / "recipe.toml"
    recipe.write_text(recipe.read_text().replace('kind = "absorbing"', 'kind = "direct"'))
    content[-1] ^= 1
    weights.write_bytes(content)
    with pytest.raises(UserError, match="was made from another recipe"):
        Run.load(run_folder)


def test_threads_are_those_that_were_asked_for(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diffusearch.inference.threads._asked", None)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert threads() == 3
    backend = Run.load(run_folder, "onnx").backend
    assert isinstance(backend, OnnxBackend)
    monkeypatch.delitem(sys.modules, "torch")  # its own number of threads stays
    use_threads(2)
    assert threads() == 2
    backend.look(given_variables(BOARDS, backend.near), backend.near)
    assert backend._session("evaluate").get_session_options().intra_op_num_threads == 2


PLAY = """
import os, sys
for name in ("torch", "pyarrow", "safetensors", "onnx", "matplotlib", *os.environ.get("ABSENT", "").split()):
    sys.modules[name] = None  # as if not installed
from diffusearch.cli import main
sys.argv = ["diffusearch", *sys.argv[1:]]
main()
"""


def play_without(*words: str, talk: str = "", absent: str = "") -> subprocess.CompletedProcess[str]:
    """The program where torch and the other extras are not installed, nor what is `absent`."""
    command = [sys.executable, "-c", PLAY, *words]
    environment = os.environ | {"ABSENT": absent}
    return subprocess.run(command, env=environment, input=talk, capture_output=True, text=True, timeout=300)


def without_torch(*words: str, talk: str = "") -> str:
    done = play_without(*words, talk=talk)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("agent", ["search", "diffusearch", "diffusearch?order=confidence", "s-a", "s-v", "mcts"])
def test_a_move_needs_no_torch(agent: str) -> None:
    assert "move      " in without_torch("move", "startpos", "--agent", agent)


def test_demo_and_picture_need_no_torch(tmp_path: Path) -> None:
    assert "solution" in without_torch("demo")
    assert "case.svg" in without_torch("explain", "startpos", "--out", str(tmp_path / "case.svg"))


def test_uci_needs_no_torch() -> None:
    said = without_torch("uci", talk="uci\nisready\nposition startpos moves e2e4\ngo nodes 20\n")
    assert "uciok" in said
    assert "readyok" in said
    assert "bestmove" in said


def test_a_tournament_needs_no_torch_and_leaves_its_picture_out(tmp_path: Path) -> None:
    words = ["tournament", "--agents", "random greedy-material", "--games", "2", "--max-plies", "6"]
    done = play_without(*words, "--replicas", "10", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    (said,) = [line for line in done.stderr.splitlines() if "picture" in line]
    assert said == (
        "A picture is left out: crosstable.png needs matplotlib, which is not installed: "
        "pip install 'diffusearch[figures]'"
    )
    assert (tmp_path / "out" / "crosstable.md").is_file()
    assert not (tmp_path / "out" / "crosstable.png").exists()


@pytest.mark.parametrize(
    ("agent", "absent", "said"),
    [
        (
            "search?backend=torch",
            "",
            "backend=torch needs torch, which is not installed: pip install 'diffusearch[train]'",
        ),
        (
            "diffusearch?cache=on&carry=keep",
            "",
            "cache=on needs torch, which is not installed: pip install 'diffusearch[train]'",
        ),
        (
            "search",
            "onnxruntime",
            "the run 'diffusearch' needs onnxruntime, which is not installed: pip install onnxruntime",
        ),
    ],
)
def test_what_is_missing_is_named_with_its_extra(agent: str, absent: str, said: str) -> None:
    done = play_without("move", "startpos", "--agent", agent, absent=absent)
    assert done.returncode == 2
    assert done.stderr.strip() == f"diffusearch: {said}"
