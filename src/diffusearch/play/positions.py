"""A game from the page <-> a board: the only place where the page's input meets the rules (python-chess)."""

from __future__ import annotations

import io
from datetime import date

import chess
import chess.pgn

from diffusearch.data import pgn
from diffusearch.errors import UserError
from diffusearch.fen import position_of
from diffusearch.play.schemas import (
    MAX_MOVES,
    Game,
    LegalMove,
    PastedGame,
    PgnRequest,
    PlayedMove,
    Position,
    Result,
    Score,
    Side,
)

_REASONS = {
    chess.Termination.CHECKMATE: "checkmate",
    chess.Termination.STALEMATE: "stalemate",
    chess.Termination.INSUFFICIENT_MATERIAL: "too little material to mate",
    chess.Termination.SEVENTYFIVE_MOVES: "75 moves without capture or pawn move",
    chess.Termination.FIVEFOLD_REPETITION: "the position came up five times",
}


def side(colour: chess.Color) -> Side:
    return "white" if colour == chess.WHITE else "black"


def board_of(game: Game) -> chess.Board:
    """The board after all moves, with its move stack; every move is checked."""
    board = chess.Board() if game.fen is None else position_of(game.fen)
    for number, uci in enumerate(game.moves, start=1):
        try:
            move = board.parse_uci(uci)
        except ValueError as error:
            raise UserError(f"Move {number}, {uci}, is not legal in {board.fen()}; take it back.") from error
        board.push(move)
    return board


def result_of(board: chess.Board) -> Result | None:
    """How the game ended. Threefold repetition and fifty moves end it at once, as on most servers."""
    outcome = board.outcome()
    if outcome is not None:
        score: Score = "1/2-1/2"
        if outcome.winner is not None:
            score = "1-0" if outcome.winner == chess.WHITE else "0-1"
        return Result(score=score, reason=_REASONS.get(outcome.termination, "the rules"))
    if board.is_repetition(3):
        return Result(score="1/2-1/2", reason="the position came up three times")
    if board.is_fifty_moves():
        return Result(score="1/2-1/2", reason="50 moves without capture or pawn move")
    return None


def _checked_king(board: chess.Board) -> str | None:
    king = board.king(board.turn)
    return chess.square_name(king) if king is not None and board.is_check() else None


def describe(game: Game) -> Position:
    """All that the page may show: legal moves, SAN, check and result."""
    board = board_of(game)
    replay = board.root()
    start = replay.fen()
    history = []
    for move in board.move_stack:
        san = replay.san(move)
        replay.push(move)
        history.append(PlayedMove(uci=move.uci(), san=san, fen=replay.fen(), check=_checked_king(replay)))
    result = result_of(board)
    legal = [] if result else [_legal_move(board, move) for move in board.legal_moves]
    return Position(
        start=start,
        fen=board.fen(),
        turn=side(board.turn),
        check=_checked_king(board),
        legal=legal,
        history=history,
        result=result,
    )


def _legal_move(board: chess.Board, move: chess.Move) -> LegalMove:
    return LegalMove.model_validate(
        {
            "uci": move.uci(),
            "source": chess.square_name(move.from_square),
            "target": chess.square_name(move.to_square),
            "promotion": chess.piece_symbol(move.promotion) if move.promotion else None,
            "san": board.san(move),
        }
    )


def pasted(text: str) -> PastedGame:
    """A pasted FEN (one line with ranks) or the first game of a pasted PGN."""
    text = text.strip().lstrip("\ufeff")
    if not text:
        raise UserError("The text is empty; paste a FEN or a PGN.")
    if "\n" not in text and text.split(" ")[0].count("/") == 7:
        return PastedGame(fen=position_of(text).fen(), moves=[], white=None, black=None)
    try:
        game = chess.pgn.read_game(io.StringIO(text))
    except ValueError as error:
        raise UserError(f"The PGN cannot be read ({error}); paste one game of standard chess.") from error
    if game is None or (game.next() is None and "[" not in text):
        raise UserError(f"{text[:60]!r} is neither a FEN nor a PGN; paste one of them.")
    if game.errors:
        raise UserError(f"The PGN cannot be read ({game.errors[0]}); correct that move.")
    if game.headers.get("Variant", "Standard").lower() not in {"standard", "chess", "from position"}:
        raise UserError(f"The PGN is of the variant {game.headers['Variant']!r}; only standard chess is played here.")
    start = position_of(game.board().fen())
    first = next(pgn.split(io.StringIO(text)))
    if word := pgn.strange_word("".join(first.movetext)):
        raise UserError(f"The PGN has {word[:20]!r}, which is no move; write moves in English letters (K Q R B N).")
    moves = [move.uci() for move in game.mainline_moves()]
    if "0000" in moves:
        raise UserError("The PGN has a null move (--), which cannot be played; take it out.")
    if len(moves) > MAX_MOVES:
        raise UserError(f"The game has {len(moves)} half-moves; paste one of at most {MAX_MOVES}.")
    return PastedGame(fen=start.fen(), moves=moves, white=_known(game, "White"), black=_known(game, "Black"))


def _known(game: chess.pgn.Game, tag: str) -> str | None:
    name = _tag(game.headers.get(tag, "?"))
    return None if name == "?" else name


def _tag(name: str) -> str:
    """A name as a PGN tag that no reader needs to unescape: printable, without quotes and backslashes."""
    return "".join(char for char in name if char.isprintable() and char not in '"\\').strip()[:60] or "?"


def pgn_of(request: PgnRequest, today: date) -> str:
    """The game as PGN: the result is the rules' own, else the resignation, else open."""
    board = board_of(request)
    game = chess.pgn.Game.from_board(board)
    game.headers["Event"] = "Casual game"
    game.headers["Site"] = "DiffuSearch"
    game.headers["Date"] = today.strftime("%Y.%m.%d")
    game.headers["White"] = _tag(request.white)
    game.headers["Black"] = _tag(request.black)
    result = result_of(board)
    if result is not None:
        game.headers["Result"] = result.score
    elif request.resigned is not None:
        game.headers["Result"] = "0-1" if request.resigned == "white" else "1-0"
        game.headers["Termination"] = "resignation"
    else:
        game.headers["Result"] = "*"
    return str(game) + "\n"
