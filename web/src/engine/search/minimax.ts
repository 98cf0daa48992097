// Minimax as a planner: grow the tree, back up, share the expanded moves' prior mass by a softmax of scores.

import { plyOf, type Ply } from "../imagination";
import { argmax, probability, softmax, sum } from "../numbers";
import { byShare, type Evaluation, type Run } from "../run";
import type { Board } from "../rules/board";
import { BACKUPS, scores, type Backup } from "./backup";
import { callsOf, evaluationsOf, grow, type Node } from "./tree";

export interface SearchSettings {
  widths: number[]; // moves expanded at each ply
  valueWeight: number;
  backup: keyof typeof BACKUPS;
}

export interface RootMove {
  move: string;
  prior: number;
  share: number; // probability after the search
  value: number | null; // mover's win probability after the move by one evaluation
  score: number | null; // the same, after the search
}

export interface Plan {
  moves: RootMove[]; // all moves that may be played, best first
  calls: number;
  evaluations: number;
  value: number;
  legalMass: number;
  plies: (move: string) => Ply[] | null; // the principal variation after a move; null where nothing was predicted
}

/** One plan a board, all in common batches; without widths it is one look. */
export async function minimax(
  run: Run,
  boards: Board[],
  allowed: (readonly string[])[] | null,
  { widths, valueWeight, backup }: SearchSettings,
): Promise<Plan[]> {
  if (!widths.length) return (await run.evaluate(boards, allowed)).map(oneLook);
  const roots = await grow(run, boards, allowed, widths);
  return roots.map((root) => planOf(root, valueWeight, BACKUPS[backup]));
}

function oneLook({ priors, value, legalMass }: Evaluation): Plan {
  const moves = byShare(priors).map((move) => {
    const prior = priors.get(move)!;
    return { move, prior, share: prior, value: null, score: null };
  });
  return { moves, calls: 1, evaluations: 1, value, legalMass, plies: () => null };
}

function planOf(root: Node, valueWeight: number, backup: Backup): Plan {
  const { priors, value, legalMass } = root.evaluation!;
  const scored = scores(root, valueWeight, backup);
  const mass = sum([...root.children.keys()].map((move) => priors.get(move)!));
  const weights = softmax([...scored.values()]);
  const shares = new Map(priors);
  [...scored.keys()].forEach((move, index) => shares.set(move, weights[index]! * mass));
  const moves = byShare(shares).map((move): RootMove => {
    const child = root.children.get(move);
    return {
      move,
      prior: priors.get(move)!,
      share: shares.get(move)!,
      value: child ? probability(child.odds) : null,
      score: child === undefined ? null : probability((root.odds + backup(root, child)) / 2),
    };
  });
  const plies = (move: string): Ply[] => variation(root, move, valueWeight, backup);
  return { moves, calls: callsOf(root), evaluations: evaluationsOf(root), value, legalMass, plies };
}

/** The principal variation: each side plays the expanded move with the best score. */
function variation(root: Node, first: string, valueWeight: number, backup: Backup): Ply[] {
  const out: Ply[] = [];
  let [node, move]: [Node, string] = [root, first];
  for (;;) {
    const state = node.predicted.get(move);
    out.push(plyOf(node.board, move, state?.board ?? null, state?.problem ?? null, state?.squares ?? null));
    const child = node.children.get(move);
    if (!child?.children.size) return out;
    const scored = scores(child, valueWeight, backup);
    [node, move] = [child, [...scored.keys()][argmax([...scored.values()])]!];
  }
}
