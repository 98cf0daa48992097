// Review of a game: White's win probability after every move, and what each move cost (play/review.py).

import { Refused, type ReviewedMove, type ReviewSlice } from "../../api-types";
import type { Agent, Decision } from "../agents/decision";
import { share } from "../numbers";
import type { Board } from "../rules/board";
import { resultOf } from "../rules/outcome";
import { namedLine } from "./thoughts";

/** The boards before each reviewed move and after the last one. */
export function reviewed(boards: Board[], first: number, count: number): Board[] {
  const last = Math.min(boards.length - 1, first + count);
  if (first >= last)
    throw new Refused(`The game has ${boards.length - 1} half-moves; there is none to review from ${first}.`);
  return boards.slice(first, last + 1);
}

/** The review of consecutive boards by an agent. */
export async function reviewOf(name: string, agent: Agent, first: number, boards: Board[]): Promise<ReviewSlice> {
  const goingOn = resultOf(boards.at(-1)!) ? boards.slice(0, -1) : boards;
  const decisions: (Decision | null)[] = await agent.decide(goingOn);
  if (goingOn.length < boards.length) decisions.push(null);
  const values = boards.map((board, index) => whiteValue(board, decisions[index]!));
  const moves = boards.slice(1).map((after, number): ReviewedMove => {
    const [board, decision, uci] = [boards[number]!, decisions[number]!, after.played.at(-1)!];
    const line = namedLine(board, decision.line[0] === decision.move ? decision.line : [decision.move]);
    const lost = (values[number]! - values[number + 1]!) * (board.turn === "white" ? 1 : -1);
    return {
      ply: first + number,
      side: board.turn,
      uci,
      san: board.san(uci),
      fen: after.fen,
      white_value: values[number + 1]!,
      loss: decision.move === uci ? 0 : share(lost),
      best: line[0]!,
      line,
    };
  });
  return { agent: name, start_value: values[0]!, moves };
}

/** White's win probability: of the rules where the game is over, else of the agent. */
function whiteValue(board: Board, decision: Decision | null): number {
  if (!decision) return { "1-0": 1, "0-1": 0, "1/2-1/2": 0.5 }[resultOf(board)!.score];
  if (decision.value === null)
    throw new Refused("This agent gives no values, so it cannot review a game; choose another one.");
  const value = share(decision.value);
  return board.turn === "white" ? value : 1 - value;
}
