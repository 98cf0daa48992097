// When a game is over by the rules.

import type { Score } from "../../api-types";
import type { Board } from "./board";

export type Outcome = "mated" | "drawn"; // seen by the side to move

/** The result of a position, where draws that a player may claim count as drawn; null while the game goes on. */
export function outcome(board: Board): Outcome | null {
  if (!board.legal.length) return board.check ? "mated" : "drawn";
  if (board.position.isInsufficientMaterial() || board.clock >= 100) return "drawn";
  return board.clock >= 8 && board.occurrences() >= 3 ? "drawn" : null;
}

/** The value of a move that ends the game for the side that plays it: mate 1, any draw 1/2; null if it goes on. */
export function valueAfter(board: Board, uci: string): number | null {
  const result = outcome(board.push(uci));
  return result === null ? null : result === "mated" ? 1 : 0.5;
}

/** How the game ended on the page: threefold repetition and fifty moves end it at once. */
export function resultOf(board: Board): { score: Score; reason: string } | null {
  const drawn = (reason: string) => ({ score: "1/2-1/2" as const, reason });
  const over = !board.legal.length;
  if (over && board.check) return { score: board.turn === "white" ? "0-1" : "1-0", reason: "checkmate" };
  if (board.position.isInsufficientMaterial()) return drawn("insufficient material");
  if (over) return drawn("stalemate");
  if (board.clock >= 150) return drawn("seventy-five-move rule");
  const times = board.occurrences();
  if (times >= 5) return drawn("fivefold repetition");
  if (times >= 3) return drawn("threefold repetition");
  return board.clock >= 100 ? drawn("fifty-move rule") : null;
}
