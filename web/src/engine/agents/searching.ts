// Explicit search as a player: plays the best move of a plan, or samples from its shares.

import { playable } from "../imagination";
import type { Run } from "../run";
import { minimax, type Plan, type SearchSettings } from "../search/minimax";
import type { Board } from "../rules/board";
import { choose } from "./chance";
import { timed, type Agent, type Decision } from "./decision";
import { rootMoves } from "./root-moves";
import { effort, temperatureOf } from "./strength";

const REPORTED = 8; // root moves whose variations a decision reports

/** `looks` limits the network calls: 1 is one look at the position. */
export function searching(run: Run, settings: SearchSettings, strength: number, looks: number | null): Agent {
  const most = looks === null ? settings.widths.length : Math.floor((looks - 1) / 2);
  const widths = settings.widths.slice(0, Math.min(effort(strength, settings.widths.length), most));
  const temperature = temperatureOf(strength);
  return {
    decide: (boards) =>
      timed(boards, async () => {
        const plans = await minimax(run, boards, await rootMoves(run, boards), { ...settings, widths });
        return boards.map((board, index) => decision(board, plans[index]!, temperature));
      }),
  };
}

function decision(board: Board, plan: Plan, temperature: number): Omit<Decision, "seconds"> {
  const shares = new Map(plan.moves.map(({ move, share }) => [move, share]));
  const move = choose(shares, temperature, board);
  const chosen = plan.moves.find((one) => one.move === move)!;
  const lineAfter = (first: string): string[] => plan.plies(first)?.map((ply) => ply.move!) ?? [first];
  const line = plan.plies(move);
  return {
    move,
    shares,
    line: playable(board, lineAfter(move)),
    value: chosen.score ?? plan.value,
    evaluations: plan.evaluations,
    imagination: line && { line, film: [], legalMass: plan.legalMass, steps: plan.calls },
    lookAhead: {
      by: "search",
      candidates: plan.moves
        .slice(0, REPORTED)
        .map(({ share: _, ...one }) => ({ ...one, probability: null, line: lineAfter(one.move) })),
    },
  };
}
