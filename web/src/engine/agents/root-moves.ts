// A side that is ahead avoids draws at the root and makes progress: moves that do not are left out while others are
// (agents/drawing_moves.py).

import type { Run } from "../run";
import type { Board } from "../rules/board";
import { outcome } from "../rules/outcome";
import { facesBareKing, progressing } from "./bare-king";
import { isKingAndPawn, winning } from "./king-and-pawn";

const AHEAD = 0.55; // win probability from which a draw is worth less than playing on
const FEW = 6; // men on the board, kings included, up to which the replies are looked at

type Moves = readonly string[];

/** The moves to choose from on each board; the network values only boards on which some moves draw and others do not. */
export async function rootMoves(run: Run, boards: Board[]): Promise<Moves[]> {
  const out: Moves[] = [];
  const rest = new Map<number, Moves>();
  for (const [at, board] of boards.entries()) {
    const best = progress(board);
    out.push(best.length ? best : board.legal);
    if (best.length) continue;
    const left = kept(board);
    if (left.length && left.length < board.legal.length) rest.set(at, left);
  }
  if (!rest.size) return out;
  const asked = [...rest.keys()];
  const found = await run.evaluate(asked.map((at) => boards[at]!));
  asked.forEach((at, index) => {
    if (found[index]!.value > AHEAD) out[at] = rest.get(at)!;
  });
  return out;
}

/** Whether a move ends the game in a draw or repeats a position of the game. */
function draws(board: Board, move: string): boolean {
  const after = board.push(move);
  return outcome(after) === "drawn" || (after.clock >= 4 && after.occurrences() >= 2);
}

/** Whether some reply to a move ends the game in a draw, or leaves the side to move nothing to win with. */
function letsDraw(board: Board, move: string): boolean {
  const after = board.push(move);
  return after.legal.some((reply) => {
    const replied = after.push(reply);
    return outcome(replied) === "drawn" || replied.position.hasInsufficientMaterial(board.turn);
  });
}

/** Against a bare king that can be mated, the moves that make progress; else none. */
function progress(board: Board): Moves {
  if (facesBareKing(board)) return progressing(board, board.legal);
  if (isKingAndPawn(board)) return winning(board, board.legal.filter((move) => !draws(board, move)));
  return [];
}

/** The moves that do not draw; with few men on the board, of these the ones after which no reply draws, if any. */
function kept(board: Board): Moves {
  const safe = board.legal.filter((move) => !draws(board, move));
  if (board.position.board.occupied.size() > FEW) return safe;
  const safer = safe.filter((move) => !letsDraw(board, move));
  return safer.length ? safer : safe;
}
