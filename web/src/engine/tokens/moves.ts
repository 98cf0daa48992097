// Actions: the 1968 moves that UCI can name, and one token for "the game is over" (tokens/moves.py).

import { knightAttacks, queenAttacks } from "chessops/attacks";
import { SquareSet } from "chessops/squareSet";
import { makeSquare, squareFile, squareRank } from "chessops/util";

function allMoves(): string[] {
  const out: string[] = [];
  for (let source = 0; source < 64; source += 1) {
    for (const target of queenAttacks(source, SquareSet.empty()).union(knightAttacks(source))) {
      const uci = makeSquare(source) + makeSquare(target);
      out.push(uci);
      const lastRank = { 1: 0, 6: 7 }[squareRank(source)] === squareRank(target);
      if (lastRank && Math.abs(squareFile(source) - squareFile(target)) <= 1)
        out.push(...["n", "b", "r", "q"].map((piece) => uci + piece));
    }
  }
  return out;
}

export const MOVES: readonly string[] = allMoves();
export const NONE = MOVES.length; // "no move, the game is over", written 0000
export const VOCABULARY = NONE + 1;

const IDS = new Map(MOVES.map((uci, id) => [uci, id]));
const turned = (uci: string): string => uci.replace(/[1-8]/g, (rank) => String(9 - Number(rank)));
/** The token of a move after the ranks are mirrored. */
const TURN = MOVES.map((uci) => IDS.get(turned(uci))!);

/** The token of a move; `black`: as Black sees it. */
export function moveId(uci: string, black: boolean): number {
  const id = IDS.get(uci)!;
  return black ? TURN[id]! : id;
}

/** The move of a token below NONE. */
export const idMove = (id: number, black: boolean): string => MOVES[black ? TURN[id]! : id]!;
