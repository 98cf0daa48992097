"""Any UCI engine as an agent, Stockfish first. A crashed engine is started again, but only once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import chess
import chess.engine

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.agents.candidates import candidates
from diffusearch.agents.onestep import shares_of
from diffusearch.errors import UserError
from diffusearch.tokens.values import win_probability

T = TypeVar("T")
ConfigValue = str | int | bool | None
DEFAULT_NODES = 10_000
PATIENCE = 300.0  # seconds for one decision; an engine that ignores its limit would never end
ANSWER_WITHIN = 10.0  # seconds that an engine may take for its hand-shake


class EngineAgent(Agent):
    """A UCI engine with fixed limits; `Limits` given to a call replace them."""

    def __init__(
        self,
        path: str,
        limit: chess.engine.Limit,
        name: str = "uci",
        options: Mapping[str, ConfigValue] | None = None,
    ) -> None:
        self.name = name
        self.path = path
        self.limit = limit
        self.options = dict(options or {})
        self._game = object()  # a new token makes python-chess send ucinewgame, which clears the engine's memory
        self._engine: chess.engine.SimpleEngine | None = self._start()

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        return self._decide(board, limits, lines=1)[0]

    def play_many(self, boards: Sequence[chess.Board], limits: Limits = Limits()) -> list[Decision]:
        """Each position as a game of its own, so that nothing is remembered from the one before."""
        out: list[Decision] = []
        for board in boards:
            self.new_game()
            out.append(self.play(board, limits))
        return out

    def analyse(self, board: chess.Board, limits: Limits = Limits(), lines: int = 1) -> list[Decision]:
        return self._decide(board, limits, lines)

    def new_game(self) -> None:
        self._game = object()

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _decide(self, board: chess.Board, limits: Limits, lines: int) -> list[Decision]:
        moves = candidates(board, limits)
        roots = moves if limits.moves else None
        limit = _limit(limits) or self.limit
        start = time.perf_counter()
        if lines == 1:  # `play`, not `analyse`: an engine that plays below its strength picks its move only there
            played = self._ask(
                lambda engine: engine.play(board, limit, game=self._game, info=chess.engine.INFO_ALL, root_moves=roots),
                board,
            )
            if played.move is None:
                raise UserError(f"engine '{self.path}' gave no move in '{board.fen()}'; use another engine")
            seconds = time.perf_counter() - start
            return [_decision(played.move, dict.fromkeys(moves, 0.0) | {played.move: 1.0}, played.info, board, seconds)]
        infos = self._ask(
            lambda engine: engine.analyse(
                board, limit, multipv=min(lines, len(moves)), game=self._game, root_moves=roots
            ),
            board,
        )
        seconds = time.perf_counter() - start
        # Where the search stops within an iteration, its lines come from two depths and need not be in order.
        by_move = {info["pv"][0]: info for info in infos if info.get("pv")}
        values = {move: _value(info, board) or 0.0 for move, info in by_move.items()}
        shares = dict.fromkeys(moves, 0.0) | shares_of(values)
        ranked = sorted(by_move, key=lambda move: -values[move])
        return [_decision(move, shares, by_move[move], board, seconds) for move in ranked]

    def _ask(self, job: Callable[[chess.engine.SimpleEngine], T], board: chess.Board) -> T:
        """Do a job; if the engine dies or falls silent under it, start it again and try once more."""
        for _ in range(2):
            if self._engine is None:
                self._engine = self._start()
            watchdog = threading.Timer(PATIENCE, self._engine.close)  # closing it ends the job as a crash would
            watchdog.daemon = True
            watchdog.start()
            try:
                return job(self._engine)
            except (chess.engine.EngineTerminatedError, TimeoutError):
                self.close()
            except chess.engine.EngineError as error:
                raise UserError(
                    f"engine '{self.path}' answered badly in '{board.fen()}': {error}; use another engine"
                ) from error
            finally:
                watchdog.cancel()
        raise UserError(
            f"engine '{self.path}' crashed (or was silent for {PATIENCE:g} s) twice in '{board.fen()}'; "
            "run it by hand there, give it a smaller limit or use another engine"
        )

    def _start(self) -> chess.engine.SimpleEngine:
        try:
            # A process group of its own: Ctrl-C in the terminal is for us, not for the engine.
            engine = _in_daemon(
                lambda: chess.engine.SimpleEngine.popen_uci(self.path, timeout=ANSWER_WITHIN, setpgrp=True)
            )
        except (OSError, TimeoutError, chess.engine.EngineError) as error:
            reason = str(error) or "it did not answer"
            raise UserError(
                f"engine '{self.path}' does not start as a UCI engine ({reason}); give the path of a working one"
            ) from error
        try:
            self._check(engine)
            engine.configure(self.options)
        except chess.engine.EngineError as error:
            engine.close()
            raise UserError(
                f"engine '{self.path}' refused its options: {error}; run it and type 'uci' to list them"
            ) from error
        except UserError:
            engine.close()
            raise
        return engine

    def _check(self, engine: chess.engine.SimpleEngine) -> None:
        """Refuse numbers outside the engine's own ranges (Stockfish would ignore them in silence)."""
        for name, value in self.options.items():
            known = engine.options.get(name)
            if known is None:
                raise UserError(f"engine '{self.path}' has no option '{name}'; run it and type 'uci' to list them")
            if known.type == "spin" and known.min is not None and known.max is not None:
                number = int(str(value)) if str(value).lstrip("-").isdigit() else None
                if number is None or not known.min <= number <= known.max:
                    raise UserError(f"engine '{self.path}' takes {name} from {known.min} to {known.max}, not '{value}'")


def limit_from(options: Mapping[str, int | None]) -> chess.engine.Limit:
    """The limit that an agent's text asks for: nodes, depth, movetime (milliseconds) together; else DEFAULT_NODES."""
    nodes, depth, movetime = options["nodes"], options["depth"], options["movetime"]
    if nodes is None and depth is None and movetime is None:
        nodes = DEFAULT_NODES
    return chess.engine.Limit(nodes=nodes, depth=depth, time=None if movetime is None else movetime / 1000)


def _limit(limits: Limits) -> chess.engine.Limit | None:
    """The limits of one call as python-chess's; None if they leave everything to the agent."""
    if limits.nodes is None and limits.depth is None and limits.seconds is None:
        return None
    return chess.engine.Limit(time=limits.seconds, depth=limits.depth, nodes=limits.nodes)


def _value(info: chess.engine.InfoDict, board: chess.Board) -> float | None:
    score = info.get("score")
    if score is None:
        return None
    mine = score.pov(board.turn)
    return win_probability(None, 1) if mine == chess.engine.MateGiven else win_probability(mine.score(), mine.mate())


def _decision(
    move: chess.Move, shares: dict[chess.Move, float], info: chess.engine.InfoDict, board: chess.Board, seconds: float
) -> Decision:
    line = tuple(info.get("pv", ()))
    return Decision(
        move=move,
        probabilities=shares,
        line=line if line[:1] == (move,) else (move,),  # a weakened engine's pv may start with a better move
        value=_value(info, board),
        nodes=info.get("nodes", 0),
        seconds=seconds,
    )


def _in_daemon(job: Callable[[], T]) -> T:
    """Run a job in a daemon thread and wait for it.

    python-chess keeps a thread for each engine; started from a daemon thread it is one too, and so an engine that
    nobody closed does not keep the program from ending.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(job())
        except BaseException as error:  # handed to the caller below
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
