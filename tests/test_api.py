"""The Python API of five lines, and that the package itself is light."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path
from xml.etree import ElementTree

import chess
import pytest

import diffusearch
from diffusearch.agents.build import agent
from diffusearch.errors import UserError

FEN = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"


def test_five_lines(tiny_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = diffusearch.load(tiny_run)
    imagination = model.imagine(FEN, steps=4, order="margin")
    assert chess.Move.from_uci(imagination.move) in chess.Board(FEN).legal_moves
    imagination.show()
    said = capsys.readouterr().out
    assert "after " in said
    assert f"({imagination.move})" in said
    imagination.show(film=True)
    assert "step 4 of 4" in capsys.readouterr().out


def test_pictures_are_well_formed(tiny_run: Path) -> None:
    imagination = diffusearch.load(tiny_run).imagine(chess.Board(), steps=2)
    assert ElementTree.fromstring(imagination._repr_svg_()).tag.endswith("svg")
    page = ElementTree.fromstring(f"<body>{imagination._repr_html_()}</body>")
    assert [part.tag for part in page] == ["div", "div"]


def test_a_notebook_is_given_the_imagination_itself(tiny_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []
    kernel = types.SimpleNamespace(kernel=object())
    display = types.SimpleNamespace(display=shown.append)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: kernel, display=display))
    imagination = diffusearch.load(tiny_run).imagine(FEN, steps=1)
    imagination.show()
    assert shown == [imagination]


def test_the_seed_decides(tiny_run: Path) -> None:
    model = diffusearch.load(tiny_run)
    first, again, other = (model.imagine(FEN, steps=3, temperature=1.0, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("order", ["left-to-right", "confidence"])
def test_its_cost_is_told_as_the_agent_tells_it(tiny_run: Path, order: str) -> None:
    seen = diffusearch.load(tiny_run).imagine(FEN, steps=3, order=order, imaginations=4, temperature=0.5)
    assert seen.decision.nodes == 4 * seen.steps == seen.to_json()["evaluations"]
    asked = agent(f"diffusearch:{tiny_run}?steps=3&order={order}&k=4&temperature=0.5")
    assert asked.play(chess.Board(FEN)).nodes == seen.decision.nodes


def test_bad_input_is_explained(tiny_run: Path) -> None:
    with pytest.raises(UserError, match="is no run folder"):
        diffusearch.load("nowhere")
    with pytest.raises(diffusearch.UserError, match="is not a FEN"):
        diffusearch.load(tiny_run).imagine("e4")
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        diffusearch.lode  # noqa: B018


def test_import_is_lazy_and_complete() -> None:
    code = "import sys, diffusearch as d; assert 'torch' not in sys.modules; assert set(d.__all__) <= set(dir(d))"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert all(getattr(diffusearch, name) for name in diffusearch.__all__)
