// A side that is ahead avoids draws: root moves that draw or repeat are left out while there are others.

import type { Run } from "../run";
import type { Board } from "../rules/board";
import { outcome } from "../rules/outcome";

const AHEAD = 0.55; // win probability from which a draw is worth less than playing on

/** Whether a move ends the game in a draw or repeats a position of the game. */
function draws(board: Board, move: string): boolean {
  const after = board.push(move);
  return outcome(after) === "drawn" || (after.clock >= 4 && after.occurrences() >= 2);
}

/** The moves to choose from on each board; the network values only boards on which some moves draw. */
export async function rootMoves(run: Run, boards: Board[]): Promise<(readonly string[])[]> {
  const out = boards.map((board) => board.legal);
  const rest = boards.map((board) => board.legal.filter((move) => !draws(board, move)));
  const asked = [...boards.keys()].filter((at) => rest[at]!.length && rest[at]!.length < out[at]!.length);
  if (!asked.length) return out;
  const found = await run.evaluate(asked.map((at) => boards[at]!));
  asked.forEach((at, index) => {
    if (found[index]!.value > AHEAD) out[at] = rest[at]!;
  });
  return out;
}
