// Why a set-up board is no valid position of chess, in the words of the server (tokens/states.py).

import { attacks, ray } from "chessops/attacks";
import type { Board } from "chessops/board";
import type { Setup } from "chessops/setup";
import { SquareSet } from "chessops/squareSet";
import type { Color, Square } from "chessops/types";
import { opposite, squareRank } from "chessops/util";

/** The problems joined by semicolons, or null where the position is valid. */
export function problemOf(setup: Setup): string | null {
  const { board, turn } = setup;
  const ep = validEnPassant(setup);
  const king = board.pieces(turn, "king").last();
  const otherKing = board.pieces(opposite(turn), "king").last();
  const checkers = king === undefined ? SquareSet.empty() : attackers(board, opposite(turn), king, board.occupied);
  const found: [boolean, string][] = [
    [board.pieces("white", "king").isEmpty(), "White has no king"],
    [board.pieces("black", "king").isEmpty(), "Black has no king"],
    [board.king.size() > 2, "there are too many kings"],
    [board.pieces("white", "pawn").size() > 8, "White has more than 8 pawns"],
    [board.pieces("black", "pawn").size() > 8, "Black has more than 8 pawns"],
    [board.pawn.intersects(SquareSet.backranks()), "a pawn stands on the first or last rank"],
    [board.white.size() > 16, "White has more than 16 pieces"],
    [board.black.size() > 16, "Black has more than 16 pieces"],
    [!setup.castlingRights.equals(possibleRights(setup)), "castling rights without king and rook at home"],
    [setup.epSquare !== ep, "no pawn can be taken en passant there"],
    [
      otherKing !== undefined && attackers(board, turn, otherKing, board.occupied).nonEmpty(),
      "the side that is not to move is in check",
    ],
    [board.occupied.isEmpty(), "the board is empty"],
    [checkers.size() > 2, "more than two pieces give check"],
    [impossibleCheck(setup, checkers, ep), "the checks cannot have come about"],
  ];
  return found.filter(([wrong]) => wrong).map(([, words]) => words).join("; ") || null;
}

function attackers(board: Board, colour: Color, square: Square, occupied: SquareSet): SquareSet {
  let out = SquareSet.empty();
  for (const from of board[colour]) {
    if (attacks(board.get(from)!, from, occupied).has(square)) out = out.with(from);
  }
  return out;
}

/** Rights with the king on e1 or e8 and a rook in the corner. */
function possibleRights({ board, castlingRights }: Setup): SquareSet {
  let out = castlingRights.intersect(board.rook).intersect(SquareSet.corners());
  for (const [colour, home] of [["white", 4], ["black", 60]] as const) {
    const rank = SquareSet.backrank(colour);
    if (!board.pieces(colour, "king").has(home)) out = out.diff(rank);
    else out = out.diff(rank.diff(board[colour]));
  }
  return out;
}

/** The en-passant square, if a pawn can have made a double step over it. */
function validEnPassant({ board, turn, epSquare }: Setup): Square | undefined {
  if (epSquare === undefined || squareRank(epSquare) !== (turn === "white" ? 5 : 2)) return undefined;
  const back = turn === "white" ? -8 : 8;
  if (!board.pieces(opposite(turn), "pawn").has(epSquare + back)) return undefined;
  return board.occupied.has(epSquare) || board.occupied.has(epSquare - back) ? undefined : epSquare;
}

function impossibleCheck(setup: Setup, checkers: SquareSet, ep: Square | undefined): boolean {
  const { board, turn } = setup;
  if (checkers.isEmpty()) return false;
  const kings = board.pieces(turn, "king");
  if (ep !== undefined) {
    const [pushedTo, pushedFrom] = [ep ^ 8, ep ^ 24];
    const before = board.occupied.without(pushedTo).with(pushedFrom);
    if (checkers.moreThanOne()) return true;
    if (checkers.last() === pushedTo) return false;
    return [...kings].some((king) => attackers(board, opposite(turn), king, before).nonEmpty());
  }
  if (checkers.size() > 2) return true;
  return checkers.size() === 2 && ray(checkers.first()!, checkers.last()!).intersects(kings);
}
