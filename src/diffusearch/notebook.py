"""The Python API of five lines: load a model, imagine a position, look at it.

In a notebook an imagination shows itself as boards with arrows; in a terminal `show()` prints boards of characters.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess
import numpy as np

from diffusearch.agents.base import Decision
from diffusearch.agents.runs import run
from diffusearch.drafts.revising import imaginer
from diffusearch.fen import board_of
from diffusearch.inference.imagination import Imagination
from diffusearch.inference.run import Run
from diffusearch.play.opponents import name_of
from diffusearch.play.pictures import case_picture, strip_picture
from diffusearch.play.schemas import Thought
from diffusearch.play.terminal import film_frames, imagined_boards, summary
from diffusearch.play.thoughts import thought_of
from diffusearch.weights import NAMES


def load(weights: str | Path = "diffusearch", backend: str = "auto") -> Model:
    """A model: the name of packaged weights, or the folder of a run that `diffusearch train` wrote.

    `backend` is onnx, torch, or auto: onnx where the run has graphs.
    """
    named = isinstance(weights, str) and weights in NAMES
    return Model(run(None if named else str(weights), str(weights), "diffusearch", backend=backend))


class Model:
    """A trained run that imagines one position at a time; `model.run` has the batched calls."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def imagine(
        self,
        position: str | chess.Board = chess.STARTING_FEN,
        *,
        horizon: int | None = None,
        seed: int = 0,
        **decoding: Any,
    ) -> Vision:
        """Denoise the next move of a FEN, `startpos` or board, with drafts in sight or together with its future.

        `decoding` changes fields of the run's [decoding]: steps, drafts, order, carry, imaginations and so on. Fields
        of joint denoising (order, carry, ...) switch drafts off. Joint denoising records every step.
        """
        board = position if isinstance(position, chess.Board) else board_of(position)
        choice = self.run.recipe.decoding.changed(horizon, **decoding)
        generator = np.random.default_rng(seed)
        (found,) = imaginer(self.run, choice).imagine([board], choice, generator, horizon=horizon, film=True)
        return Vision(**vars(found))

    def __repr__(self) -> str:
        return f"<diffusearch.Model {self.run.name!r}: {self.run.paradigm}, horizon {self.run.horizon}>"


@dataclass(frozen=True)
class Vision(Imagination):
    """An imagination that can be looked at."""

    @property
    def decision(self) -> Decision:
        """The same as every agent answers."""
        shares = {chess.Move.from_uci(uci): share for uci, share in self.probabilities.items()}
        line = tuple(map(chess.Move.from_uci, self.moves))
        return Decision(chess.Move.from_uci(self.move), shares, line, self.value, self.nodes, imagination=self)

    @property
    def thought(self) -> Thought:
        """The same as the page shows."""
        return thought_of("diffusearch", chess.Board(self.root), self.decision)

    def show(self, film: bool = False) -> None:
        """Boards with arrows in a notebook, of characters elsewhere; `film` adds the denoising, in characters."""
        from rich.console import Console

        notebook = sys.modules.get("IPython")
        kernel = notebook and getattr(notebook.get_ipython(), "kernel", None)
        if notebook and kernel:
            notebook.display.display(self)
        console = Console(soft_wrap=True)
        thought = self.thought
        if film:
            for frame in film_frames(thought.film):
                console.print(frame)
        if not kernel:
            console.print(imagined_boards(thought.line))
            console.print("\n".join(summary(thought)), highlight=False, markup=False)

    def _repr_svg_(self) -> str:
        """The position with the move and the imagined line as numbered arrows."""
        return case_picture(chess.Board(self.root), {name_of("diffusearch"): self.thought})

    def _repr_html_(self) -> str:
        """The same with the strip of imagined boards below it."""
        return f"<div>{self._repr_svg_()}</div><div>{strip_picture(self.thought)}</div>"
