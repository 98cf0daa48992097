"""Random UCI lines, half sensible, half nonsense, and the check of the answers: every `go` has one legal `bestmove`."""

from __future__ import annotations

import random

import chess

from diffusearch.errors import UserError
from diffusearch.play.uci_options import TABLE
from diffusearch.play.uci_words import allowed_moves, parse_go, parse_position

_WORDS = "uci isready ucinewgame setoption position go stop ponderhit debug register d"
COMMANDS = tuple(_WORDS.split())
_GO = "wtime btime winc binc movestogo movetime nodes depth infinite ponder searchmoves mate"
GO = tuple(_GO.split())
WORDS = ("startpos", "fen", "moves", "name", "value", "on", "off", "true", "false", "<empty>", "Move", "Overhead")
NUMBERS = ("0", "1", "-1", "7", "1000", "99999999999999999999", "1e5", "0x10", "NaN", "½", "٣")
FENS = (
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",  # stalemate
    "R6k/8/6K1/8/8/8/8/8 b - - 0 1",  # mate
    "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",  # 218 moves
    "8/8/8/8/8/8/8/K6k w - - 99 999",
    "8/8/8/8/8/8/8/8 w - - 0 1",
    "rnbqkbnr/pppppppp/8/8 w KQkq -",
    "4k3/8/8/8/3pP3/8/8/4K2R b K e3 0 1",
)


def garbage(lots: random.Random) -> str:
    size = lots.randrange(12)
    return "".join(
        chr(lots.randrange(32, 127) if lots.random() < 0.5 else lots.randrange(1, 0x3000)) for _ in range(size)
    )


def some_move(lots: random.Random) -> str:
    return lots.choice(chess.SQUARE_NAMES) + lots.choice(chess.SQUARE_NAMES) + lots.choice(("", "", "", "q", "k"))


def some_word(lots: random.Random) -> str:
    kind = lots.randrange(7)
    pool = (COMMANDS, GO, WORDS, NUMBERS, tuple(option.name for option in TABLE))
    return lots.choice(pool[kind]) if kind < 5 else some_move(lots) if kind == 5 else garbage(lots)


def random_game(lots: random.Random, plies: int) -> chess.Board:
    """A board after so many random moves, or fewer if the game ends."""
    board = chess.Board()
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(lots.choice(moves))
    return board


def good_position(lots: random.Random) -> str:
    board = random_game(lots, lots.randrange(8))
    return "position startpos moves " + " ".join(move.uci() for move in board.move_stack)


def sensible(lots: random.Random) -> str:
    kind = lots.randrange(8)
    if kind == 0:
        return good_position(lots)
    if kind == 1:
        return f"position fen {lots.choice(FENS)}" + (f" moves {some_move(lots)}" if lots.random() < 0.3 else "")
    if kind == 2:
        words = [word for _ in range(lots.randrange(4)) for word in (lots.choice(GO), lots.choice(NUMBERS))]
        return "go " + " ".join(words)
    if kind == 3:
        option = lots.choice([option for option in TABLE if option.name not in ("Agent", "Weights", "Threads")])
        return f"setoption name {option.name} value {lots.choice((*NUMBERS, *option.words, 'true', 'false'))}"
    return lots.choice(COMMANDS[:3] + COMMANDS[6:])


def lines(seed: int, count: int) -> list[bytes]:
    """Half sensible, half nonsense; some bytes that are no text; never `quit` alone, that ends the talk."""
    lots = random.Random(seed)
    out: list[bytes] = []
    for _ in range(count):
        text = sensible(lots) if lots.random() < 0.5 else " ".join(some_word(lots) for _ in range(lots.randrange(9)))
        line = text.encode("utf-8", errors="surrogatepass").replace(b"quit", b"Quit").replace(b"\n", b" ")
        if lots.random() < 0.01:
            line += bytes(lots.randrange(256) for _ in range(20)).replace(b"\n", b"")
        out.append(line.replace(b"\r", b" ") + b"\n")
    return out


def goes(sent: list[bytes]) -> list[tuple[chess.Board | None, tuple[chess.Move, ...]]]:
    """The position (None = refused) and the root moves of each `go`: the first known word of a line decides."""
    board: chess.Board | None = chess.Board()
    found = []
    for line in sent:
        words = line.decode("utf-8", errors="replace").split()
        at = next((place for place, word in enumerate(words) if word in COMMANDS), len(words))
        if words[at : at + 1] == ["position"]:
            try:
                board = parse_position(words[at + 1 :])
            except UserError:
                board = None
        elif words[at : at + 1] == ["go"]:
            named = parse_go(words[at + 1 :]).searchmoves
            found.append((board, allowed_moves(board, named) if board else ()))
    return found


def check(sent: list[bytes], said: list[str]) -> int:
    """The nth bestmove answers the nth go; gives how many there are."""
    best = [line for line in said if line.startswith("bestmove")]
    asked = goes(sent)
    assert len(best) == len(asked) > len(sent) / 40, (len(best), len(asked))
    for line, (board, moves) in zip(best, asked, strict=True):
        move = line.split()[1]
        if board is None or not any(board.legal_moves):
            assert move == "(none)", line
        else:
            assert chess.Move.from_uci(move) in (moves or board.legal_moves), (line, board.fen())
    wrong = [line for line in said if "Error:" in line]  # an exception of ours that came back as info string
    assert not wrong, wrong[0]
    assert said.count("uciok") > 0
    assert said.count("readyok") > 0
    return len(best)
