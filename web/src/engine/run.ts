// The trained network in use: boards in; priors and values, or states after moves, out (inference/run.py).

import type { Context, Network } from "./network/types";
import { softmax } from "./numbers";
import type { Board } from "./rules/board";
import { squaresOf } from "./diffusion/reading";
import { moveId } from "./tokens/moves";
import { boardRow, rowBoard } from "./tokens/states";

const BATCH = 64; // positions in one network call

export interface Evaluation {
  priors: Map<string, number>; // of the moves that may be played, sum 1
  value: number; // win probability of the side to move
  legalMass: number; // probability of all legal moves together, without the legality mask
  row: Uint8Array;
  context: Context | null;
}

export interface PredictedState {
  board: Board | null; // null: no valid position,
  problem: string | null; // for this reason,
  squares: string; // and it looks so
  logProbability: number;
}

export class Run {
  constructor(readonly network: Network) {}

  /** Priors and value of each position; `allowed` narrows the moves of each. */
  async evaluate(boards: Board[], allowed: (readonly string[])[] | null = null): Promise<Evaluation[]> {
    const out: Evaluation[] = [];
    for (let start = 0; start < boards.length; start += BATCH) {
      const part = boards.slice(start, start + BATCH);
      const rows = part.map((board) => boardRow(board, board.turn));
      const looks = await this.network.evaluate(rows);
      looks.forEach(({ moves, value, context }, index) => {
        const board = part[index]!;
        const shares = softmax(moves);
        const shareOf = (uci: string): number => shares[moveId(uci, board.turn === "black")]!;
        const legalMass = board.legal.reduce((total, uci) => total + shareOf(uci), 0);
        const own = allowed?.[start + index] ?? board.legal;
        const priors = among(own, shareOf);
        out.push({ priors, value, legalMass, row: rows[index]!, context });
      });
    }
    return out;
  }

  /** The state after one move of each evaluated position, without the rules. */
  async predict(boards: Board[], evaluations: Evaluation[], moves: string[]): Promise<PredictedState[]> {
    const out: PredictedState[] = [];
    for (let start = 0; start < boards.length; start += BATCH) {
      const part = boards.slice(start, start + BATCH);
      const known = evaluations.slice(start, start + BATCH);
      const ids = part.map((board, index) => moveId(moves[start + index]!, board.turn === "black"));
      const found = await this.network.predict(known.map(({ row }) => row), known.map(({ context }) => context), ids);
      found.forEach(({ row, logProbability }, index) => {
        const { turn, number } = part[index]!;
        const read = rowBoard(row, turn, number + (turn === "black" ? 1 : 0));
        const squares = squaresOf(row, turn === "black");
        const valid = typeof read !== "string";
        out.push({ board: valid ? read : null, problem: valid ? null : read, squares, logProbability });
      });
    }
    return out;
  }
}

/** The moves of a map of shares, likeliest first. */
export const byShare = (shares: Map<string, number>): string[] =>
  [...shares.keys()].sort((a, b) => shares.get(b)! - shares.get(a)!);

/** Shares of some moves, made to sum to 1; alike where all of them have nothing. */
export function among(moves: readonly string[], shareOf: (uci: string) => number): Map<string, number> {
  const total = moves.reduce((sum, uci) => sum + shareOf(uci), 0);
  return new Map(moves.map((uci) => [uci, total > 0 ? shareOf(uci) / total : 1 / moves.length]));
}
