// States: a position as one row of 68 small numbers, seen by the player who moves at the root (tokens/states.py).

import { Board as Placement } from "chessops/board";
import { Chess } from "chessops/chess";
import { SquareSet } from "chessops/squareSet";
import { ROLES, type Color } from "chessops/types";
import { opposite, squareFile } from "chessops/util";
import { Board } from "../rules/board";
import { problemOf } from "../rules/problems";

export const WIDTH = 68;
export const [CASTLING, EN_PASSANT, SIDE, CLOCK] = [64, 65, 66, 67];
const CLOCK_LIMIT = 255;

/** The corners of castling rights in the order of their bits: own short, own long, the opponent's short, long. */
const corners = (mover: Color): number[] => (mover === "white" ? [7, 0, 63, 56] : [63, 56, 7, 0]);

/** The row of a position in a record whose root is moved by `mover`. */
export function boardRow(board: Board, mover: Color): Uint8Array {
  const row = new Uint8Array(WIDTH);
  const flip = mover === "white" ? 0 : 56;
  const { position } = board;
  const setup = position.toSetup();
  for (const [square, piece] of position.board)
    row[square ^ flip] = 1 + ROLES.indexOf(piece.role) + (piece.color === mover ? 0 : 6);
  corners(mover).forEach((corner, bit) => {
    if (setup.castlingRights.has(corner)) row[CASTLING]! |= 1 << bit;
  });
  row[EN_PASSANT] = setup.epSquare === undefined ? 0 : squareFile(setup.epSquare) + 1; // only where taking is legal
  row[SIDE] = board.turn === mover ? 0 : 1;
  row[CLOCK] = Math.min(board.clock, CLOCK_LIMIT);
  return row;
}

/** The position of a row, or the reason why it is none; `number` is its full-move number. */
export function rowBoard(row: ArrayLike<number>, mover: Color, number: number): Board | string {
  const board = Placement.empty();
  const flip = mover === "white" ? 0 : 56;
  for (let square = 0; square < 64; square += 1) {
    const code = row[square]!;
    if (code)
      board.set(square ^ flip, { role: ROLES[(code - 1) % 6]!, color: code <= 6 ? mover : opposite(mover) });
  }
  const turn = row[SIDE] === 0 ? mover : opposite(mover);
  let castlingRights = SquareSet.empty();
  corners(mover).forEach((corner, bit) => {
    if ((row[CASTLING]! >> bit) & 1) castlingRights = castlingRights.with(corner);
  });
  const file = row[EN_PASSANT]!;
  const setup = {
    board,
    pockets: undefined,
    turn,
    castlingRights,
    epSquare: file ? file - 1 + 8 * (turn === "white" ? 5 : 2) : undefined,
    remainingChecks: undefined,
    halfmoves: row[CLOCK]!,
    fullmoves: number,
  };
  const problem = problemOf(setup);
  if (problem) return problem;
  const position = Chess.fromSetup(setup).unwrap();
  // A row names the file only where taking is legal.
  if (file && position.toSetup().epSquare === undefined) return "no pawn can be taken en passant there";
  return Board.of(position);
}
