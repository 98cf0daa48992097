// Joint denoising and drafts as a player: plays the first move of the future that it imagines (agents/imagining.py).

import { denoise, type Decoding } from "../diffusion/denoise";
import { lineOf } from "../diffusion/reading";
import { effortOf, revise } from "../drafts/revising";
import { legalLine, playable, type Imagined } from "../imagination";
import { among, type Run } from "../run";
import { moveId } from "../tokens/moves";
import type { Board } from "../rules/board";
import { choose } from "./chance";
import { timed, type Agent, type Decision, type LookAhead } from "./decision";
import { rootMoves } from "./root-moves";
import { effort, FULL, temperatureOf } from "./strength";

export interface ImaginingSettings {
  horizon: number;
  decoding: Decoding;
}

type Moves = readonly string[];

/** `steps` replaces the number of network calls: 1 is one look, and so are 2 with drafts. An `order` asks for joint denoising and its film. */
export function imagining(
  run: Run,
  settings: ImaginingSettings,
  strength: number,
  steps: number | null,
  order: Decoding["order"] | null = null,
): Agent {
  const own = order === null ? settings.decoding : { ...settings.decoding, order, drafts: 0 };
  const most = steps ?? effort(strength, own.steps);
  const drafted = effortOf({ ...own, steps: most });
  const decoding = { ...own, steps: own.drafts && !drafted ? 1 : most };
  const horizon = decoding.steps === 1 ? 1 : settings.horizon;

  async function imagine(boards: Board[], allowed: Moves[]): Promise<Imagined[]> {
    if (drafted) return revise(run, boards, allowed, drafted);
    const out: Imagined[] = [];
    for (const [at, board] of boards.entries()) {
      const found = await joint(run, board, allowed[at]!, decoding, horizon);
      out.push(order === null ? { ...found, film: [] } : found);
    }
    return out;
  }

  /** A move drawn at the strength's temperature; where another one comes out, its future is imagined anew. */
  async function weakened(board: Board, first: Imagined): Promise<Imagined> {
    const move = choose(first.shares, temperatureOf(strength), board);
    if (move === first.move) return first;
    const [again] = await imagine([board], [[move]]);
    const [calls, evaluations] = [first.steps + again!.steps, first.evaluations + again!.evaluations];
    return { ...again!, shares: first.shares, drafts: first.drafts, steps: calls, evaluations };
  }

  return {
    decide: (boards) =>
      timed(boards, async () => {
        const found = await imagine(boards, await rootMoves(run, boards));
        if (strength < FULL)
          for (const [at, board] of boards.entries()) found[at] = await weakened(board, found[at]!);
        return found.map((one, at) => decision(boards[at]!, one));
      }),
  };
}

/** Move and future denoised together. */
async function joint(run: Run, board: Board, allowed: Moves, decoding: Decoding, horizon: number): Promise<Imagined> {
  const sample = await denoise(run.network, board, horizon, decoding, allowed);
  const idOf = (uci: string): number => moveId(uci, board.turn === "black");
  const weighed = among(allowed, (uci) => sample.shares[idOf(uci)]!);
  const line = lineOf(sample.record, horizon, board);
  return {
    move: line[0]!.move!,
    shares: new Map([...weighed].sort(([, a], [, b]) => b - a)),
    line,
    film: sample.film,
    value: sample.value,
    legalMass: board.legal.reduce((total, uci) => total + sample.rawShares[idOf(uci)]!, 0),
    steps: sample.steps,
    evaluations: sample.steps,
    drafts: [],
  };
}

function decision(board: Board, one: Imagined): Omit<Decision, "seconds"> {
  const { move, shares, line, value, evaluations } = one;
  return {
    move,
    shares,
    line: playable(board, legalLine(line)),
    value,
    evaluations,
    imagination: one,
    lookAhead: lookAhead(one),
  };
}

/** The drafted moves, likeliest first; null where nothing was drafted. */
function lookAhead({ drafts }: Imagined): LookAhead | null {
  if (!drafts.length) return null;
  const ranked = [...drafts].sort((a, b) => b.after - a.after);
  const candidates = ranked.map(({ move, before, after, value, revised, line }) => ({
    move,
    prior: before,
    value,
    score: revised,
    probability: after,
    line: line.map((ply) => ply.move!),
  }));
  return { by: "drafts", candidates };
}
