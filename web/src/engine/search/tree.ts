// The tree of fixed widths: 4x2 expands the 4 likeliest first moves and the 2 likeliest replies to each.

import { logOdds } from "../numbers";
import { byShare, type Evaluation, type PredictedState, type Run } from "../run";
import type { Board } from "../rules/board";
import { successors, type Successor } from "./dynamics";

/** A position of the tree. */
export interface Node {
  board: Board;
  players: boolean; // whether the player at the root is to move
  odds: number; // the player's log odds of winning: the network's, or the rules' where the game is over
  over: boolean;
  evaluation: Evaluation | null; // null at the leaves
  children: Map<string, Node | null>; // null: no valid state was predicted
  predicted: Map<string, PredictedState>;
}

const node = (board: Board, players: boolean): Node => ({
  board,
  players,
  odds: 0,
  over: false,
  evaluation: null,
  children: new Map(),
  predicted: new Map(),
});

const playersOdds = ({ players }: Node, value: number): number => logOdds(players ? value : 1 - value);

const expanded = (one: Node | null): one is Node => one !== null && !one.over;

/** Positions that the network evaluated and states that it predicted, from here on. */
export function evaluationsOf(root: Node): number {
  return [...root.children.values()].filter(expanded).reduce((total, child) => total + evaluationsOf(child), 1 + root.predicted.size);
}

/** Network calls in which positions from here on have a part. */
export function callsOf(root: Node): number {
  const below = [...root.children.values()].filter(expanded).map(callsOf);
  return 1 + (root.predicted.size ? 1 : 0) + Math.max(0, ...below);
}

/** The roots of the trees of some boards, grown in common batches; `allowed` narrows their first moves. */
export async function grow(
  run: Run,
  boards: Board[],
  allowed: (readonly string[])[] | null,
  widths: readonly number[],
): Promise<Node[]> {
  const roots = boards.map((board) => node(board, true));
  let level = roots;
  for (const [ply, width] of widths.entries()) {
    const found = await run.evaluate(level.map(({ board }) => board), ply ? null : allowed);
    const edges: [Node, string][] = [];
    level.forEach((one, index) => {
      one.evaluation = found[index]!;
      one.odds = playersOdds(one, one.evaluation.value);
      for (const move of byShare(one.evaluation.priors).slice(0, width)) edges.push([one, move]);
    });
    const states = await successors(
      run,
      edges.map(([one]) => one.board),
      edges.map(([one]) => one.evaluation!),
      edges.map(([, move]) => move),
      ply === 0,
    );
    edges.forEach(([one, move], index) => {
      one.predicted.set(move, states[index]!.predicted);
      one.children.set(move, childOf(one, states[index]!));
    });
    level = level.flatMap(({ children }) => [...children.values()].filter(expanded));
    if (!level.length) return roots;
  }
  const leaves = await run.evaluate(level.map(({ board }) => board));
  level.forEach((one, index) => (one.odds = playersOdds(one, leaves[index]!.value)));
  return roots;
}

/** The node of a successor; null where it is no valid state. */
function childOf(parent: Node, { board, outcome }: Successor): Node | null {
  if (!board) return null;
  const players = (board.turn === parent.board.turn) === parent.players;
  const child = node(board, players);
  if (!outcome) return child;
  return { ...child, odds: logOdds(outcome === "mated" ? (players ? 0 : 1) : 0.5), over: true };
}
