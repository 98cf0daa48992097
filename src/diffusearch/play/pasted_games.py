"""Games from the page <-> boards: a start position with moves, a pasted FEN, a pasted PGN. Every move is checked."""

from __future__ import annotations

import io
import re
from datetime import date

import chess
import chess.pgn

from diffusearch.data import pgn
from diffusearch.ending import Ending, ending
from diffusearch.errors import UserError
from diffusearch.fen import position_of
from diffusearch.play.schemas import (
    MAX_MOVES,
    GameRequest,
    GameResult,
    LegalMove,
    PastedGame,
    PgnRequest,
    PlayedMove,
    PositionInfo,
    Side,
)

LONGEST_QUOTE = 160  # characters of somebody's text in an error
DEEPEST_VARIATION = 30
_BRACKET = re.compile(r"[{()]|;[^\n]*|^[%\[][^\n]*", re.MULTILINE)  # comments to the end of the line are passed over

_WORDS = {Ending.FIFTY: "fifty-move rule", Ending.SEVENTY_FIVE: "seventy-five-move rule"}  # the page's, where others


def side(colour: chess.Color) -> Side:
    return "white" if colour == chess.WHITE else "black"


def board_of(game: GameRequest) -> chess.Board:
    """The board after all moves, with its move stack; every move is checked."""
    board = chess.Board() if game.fen is None else position_of(game.fen)
    for number, uci in enumerate(game.moves, start=1):
        try:
            move = board.parse_uci(uci)
        except ValueError as error:
            raise UserError(f"Move {number}, {uci}, is not legal in {board.fen()}; take it back.") from error
        board.push(move)
    return board


def result_of(board: chess.Board) -> GameResult | None:
    """How the game ended. Threefold repetition and fifty moves end it at once, as on most servers."""
    found = ending(board)
    return None if found is None else GameResult(score=found.score(board.turn), reason=_WORDS.get(found, found.value))


def _checked_king(board: chess.Board) -> str | None:
    king = board.king(board.turn)
    return chess.square_name(king) if king is not None and board.is_check() else None


def describe(game: GameRequest) -> PositionInfo:
    """Legal moves, SAN, check and result of a game."""
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
    return PositionInfo(
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
    _check_brackets(text)
    try:
        game = chess.pgn.read_game(io.StringIO(text), Visitor=_QuietBuilder)
    except ValueError as error:
        raise UserError(f"The PGN cannot be read ({_short(error)}); paste one game of standard chess.") from error
    if game is None or (game.next() is None and "[" not in text):
        raise UserError(f"{text[:60]!r} is neither a FEN nor a PGN; paste one of them.")
    if game.errors:
        raise UserError(f"The PGN cannot be read ({_short(game.errors[0])}); correct that move.")
    if game.headers.get("Variant", "Standard").lower() not in {"standard", "chess", "from position"}:
        raise UserError(
            f"The PGN is of the variant {game.headers['Variant'][:40]!r}; only standard chess is played here."
        )
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


class _QuietBuilder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Collects errors without logging them: pasted text does not belong in the log."""

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)


def _short(error: Exception) -> str:
    """An error's text on one line and of bounded length; python-chess quotes what it could not read."""
    text = " ".join(str(error).split())
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + " ..."


def _check_brackets(text: str) -> None:
    """Refuse open comments and deeply nested variations in one pass, so that all later passes are linear."""
    depth, at = 0, 0
    while (match := _BRACKET.search(text, at)) is not None:
        at, kind = match.end(), match.group()
        if kind == "{":
            at = text.find("}", at) + 1
            if at == 0:
                raise UserError("The PGN has a comment that is not closed; write a } where it ends.")
        elif kind == "(":
            depth += 1
            if depth > DEEPEST_VARIATION:
                raise UserError(f"The PGN nests variations more than {DEEPEST_VARIATION} deep; paste the main line.")
        elif kind == ")":
            depth = max(0, depth - 1)


def _known(game: chess.pgn.Game, tag: str) -> str | None:
    name = _tag(game.headers.get(tag, "?"))
    return None if name == "?" else name


def _tag(name: str) -> str:
    """A name as a PGN tag that no reader needs to unescape: printable, without quotes and backslashes."""
    return "".join(char for char in name if char.isprintable() and char not in '"\\').strip()[:60] or "?"


def pgn_of(request: PgnRequest, today: date) -> str:
    """The game as PGN: the result is that of the rules, else of the players' agreement, else open."""
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
    elif (loser := request.resigned or request.flagged) is not None:
        game.headers["Result"] = "0-1" if loser == "white" else "1-0"
        game.headers["Termination"] = "resignation" if request.resigned else "time forfeit"
    elif request.draw_agreed:
        game.headers["Result"] = "1/2-1/2"
        game.headers["Termination"] = "agreement"
    else:
        game.headers["Result"] = "*"
    return str(game) + "\n"
