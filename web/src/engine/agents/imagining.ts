// Joint denoising as a player: plays the first move of the record that it denoises.

import { denoise, type Decoding, type Sample } from "../diffusion/denoise";
import { lineOf } from "../diffusion/reading";
import { legalLine, playable, type Imagination } from "../imagination";
import { among, type Run } from "../run";
import { moveId } from "../tokens/moves";
import type { Board } from "../rules/board";
import { choose } from "./chance";
import { timed, type Agent, type Decision } from "./decision";
import { rootMoves } from "./root-moves";
import { effort, FULL, temperatureOf } from "./strength";

export interface ImaginingSettings {
  horizon: number;
  decoding: Decoding;
}

/** `steps` replaces the number of denoising steps: 1 is one look at the position. */
export function imagining(run: Run, settings: ImaginingSettings, strength: number, steps: number | null): Agent {
  const decoding = { ...settings.decoding, steps: steps ?? effort(strength, settings.decoding.steps) };
  const horizon = decoding.steps === 1 ? 1 : settings.horizon;
  const imagine = (board: Board, allowed: readonly string[]): Promise<Sample> =>
    denoise(run.network, board, horizon, decoding, allowed);

  async function one(board: Board, allowed: readonly string[]): Promise<Omit<Decision, "seconds">> {
    const first = await imagine(board, allowed);
    const idOf = (uci: string): number => moveId(uci, board.turn === "black");
    const weighed = among(allowed, (uci) => first.shares[idOf(uci)]!);
    const shares = new Map([...weighed].sort(([, a], [, b]) => b - a));
    const drawn = strength < FULL ? choose(shares, temperatureOf(strength), board) : null;
    // Where another move comes out, its future is denoised anew.
    const changed = drawn !== null && lineOf(first.record, horizon, board)[0]?.move !== drawn;
    const sample = changed ? await imagine(board, [drawn]) : first;
    const calls = sample.steps + (changed ? first.steps : 0);
    const line = lineOf(sample.record, horizon, board);
    const legalMass = board.legal.reduce((total, uci) => total + sample.rawShares[idOf(uci)]!, 0);
    const imagination: Imagination = { line, film: sample.film, legalMass, steps: calls };
    return {
      move: line[0]!.move!,
      shares,
      line: playable(board, legalLine(line)),
      value: sample.value,
      evaluations: calls,
      imagination,
      search: null,
    };
  }

  return {
    decide: (boards) =>
      timed(boards, async () => {
        const moves = await rootMoves(run, boards);
        const out: Omit<Decision, "seconds">[] = [];
        for (const [index, board] of boards.entries()) out.push(await one(board, moves[index]!));
        return out;
      }),
  };
}
