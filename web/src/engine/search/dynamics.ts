// The states after moves, as the network predicts them; at the root the rules say which moves end the game
// (search/dynamics.py).

import type { Board } from "../rules/board";
import { outcome, type Outcome } from "../rules/outcome";
import type { Evaluation, PredictedState, Run } from "../run";

/** The state after a move. */
export interface Successor {
  board: Board | null; // null: the network predicted no valid position
  outcome: Outcome | null; // how the game ended there, for the side to move; null while it goes on
  predicted: PredictedState;
}

/** The states after some moves. Only at the root are the boards true: their history shows repetition and fifty moves. */
export async function successors(
  run: Run,
  boards: Board[],
  evaluations: Evaluation[],
  moves: string[],
  atRoot: boolean,
): Promise<Successor[]> {
  const states = await run.predict(boards, evaluations, moves);
  return states.map((predicted, at) => {
    const after = atRoot ? boards[at]!.push(moves[at]!) : null;
    const end = after && outcome(after);
    return end ? { board: after, outcome: end, predicted } : imagined(predicted);
  });
}

/** A state without legal moves is mate or stalemate. */
function imagined(predicted: PredictedState): Successor {
  const { board } = predicted;
  if (!board || board.legal.length) return { board, outcome: null, predicted };
  return { board, outcome: board.check ? "mated" : "drawn", predicted };
}
