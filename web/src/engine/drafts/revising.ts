// Draft and revise: the network drafts futures of its likeliest moves, reads them, and denoises the move again
// (drafts/revising.py).

import type { Decoding } from "../diffusion/denoise";
import { plyOf, type DraftedMove, type Imagined, type Ply } from "../imagination";
import type { DraftReading, RootDrafts } from "../network/types";
import { logOdds, probability, softmax } from "../numbers";
import type { Board } from "../rules/board";
import type { Evaluation, Run } from "../run";
import { Drafter, type Draft, type DraftNode } from "./drafting";

const BATCH = 8; // roots whose drafts are made together: their hidden states are kept until they are read
const A_PLY = 2; // network calls: one for the states, one for their evaluation

/** How much is drafted within a number of network calls: one for the root, two for each ply of each line. */
export interface Effort {
  drafts: number;
  depth: number;
  rounds: number;
}

/** The decoding's drafts as far as its steps reach; null where they do not reach the first ply. */
export function effortOf({ steps, drafts, ...most }: Decoding): Effort | null {
  const depth = Math.min(most.depth, Math.floor((steps - 1) / A_PLY));
  if (depth < 1 || drafts < 1) return null;
  const aRound = A_PLY * (depth - 1);
  const left = steps - 1 - A_PLY * depth;
  return { drafts, depth, rounds: aRound ? Math.min(most.rounds, Math.floor(left / aRound)) : 0 };
}

/** One position while its move is revised. */
interface Root {
  board: Board;
  evaluation: Evaluation;
  drafts: Draft[];
  revised: Map<string, number>; // probabilities, likeliest first
  wins: number[]; // of each draft
  calls: number; // of the network
}

/** The move of each position after its drafts were read, with the drafts and the line that the move leads. */
export async function revise(
  run: Run,
  boards: Board[],
  allowed: (readonly string[])[],
  effort: Effort,
): Promise<Imagined[]> {
  const out: Imagined[] = [];
  for (let start = 0; start < boards.length; start += BATCH) {
    const part = boards.slice(start, start + BATCH);
    const evaluations = await run.evaluate(part, allowed.slice(start, start + BATCH));
    out.push(...(await revisedRoots(run, part, evaluations, effort)).map(imaginedOf));
  }
  return out;
}

/** Draft, read, and go on for some rounds: the leading move gets a second line until it has had one. */
async function revisedRoots(run: Run, boards: Board[], evaluations: Evaluation[], effort: Effort): Promise<Root[]> {
  const drafter = new Drafter(run);
  const drafts = await drafter.firstLines(boards, evaluations, effort.drafts, effort.depth);
  const roots = boards.map(
    (board, at): Root => ({
      board,
      evaluation: evaluations[at]!,
      drafts: drafts[at]!,
      revised: new Map(),
      wins: [],
      calls: 1 + drafter.calls, // the first look, and the drafts
    }),
  );
  await read(run, roots);
  let going = roots;
  for (let round = 0; round < effort.rounds; round += 1) {
    going = going.filter((root) => leader(root)?.hasSecond === false);
    if (!going.length) break;
    const before = drafter.calls;
    await drafter.secondLines(going.map((root) => leader(root)!), effort.depth);
    for (const root of going) root.calls += drafter.calls - before;
    await read(run, going);
  }
  return roots;
}

const best = ({ revised }: Root): string => revised.keys().next().value!;

/** The draft of the likeliest move; undefined where that move was not drafted. */
const leader = (root: Root): Draft | undefined => root.drafts.find(({ move }) => move === best(root));

/** Revise the probabilities of some roots by all that is drafted for them. */
async function read(run: Run, roots: Root[]): Promise<void> {
  const readings = await run.network.revise(roots.map(asRead));
  roots.forEach((root, at) => {
    root.revised = revised(root, readings[at]!);
    root.wins = readings[at]!.wins;
  });
}

const asRead = ({ evaluation, drafts }: Root): RootDrafts => ({
  context: evaluation.context,
  odds: logOdds(evaluation.value),
  drafts: drafts.map(({ nodes }) =>
    nodes.map((node) => {
      if (!node?.board) return null;
      const { odds, logShare, over } = node;
      return { context: node.evaluation?.context ?? null, odds, logShare, over };
    }),
  ),
});

/**
 * The probabilities of all moves, likeliest first. Drafted moves share anew what they had together at the first look;
 * the others keep what they had.
 */
function revised({ evaluation: { priors }, drafts }: Root, { scores, scale }: DraftReading): Map<string, number> {
  const own = drafts.map(({ move }) => priors.get(move)!);
  const shares = softmax(own.map((prior, at) => scale * (Math.log(Math.max(prior, 1e-30)) + scores[at]!)));
  const mass = own.reduce((sum, prior) => sum + prior, 0);
  const after = new Map(priors);
  drafts.forEach(({ move }, at) => after.set(move, mass * shares[at]!));
  return new Map([...after].sort(([, a], [, b]) => b - a));
}

function imaginedOf(root: Root): Imagined {
  const { board, evaluation, revised: shares } = root;
  const move = best(root);
  const drafts = root.drafts.map((draft, at) => drafted(root, draft, root.wins[at]!));
  const own = drafts.find((one) => one.move === move);
  const nodes = root.drafts.flatMap(({ nodes }) => nodes.filter((node) => node !== null));
  return {
    move,
    shares,
    line: own?.line ?? [plyOf(board, move, null, null, null)],
    film: [],
    value: own?.revised ?? evaluation.value,
    legalMass: evaluation.legalMass,
    steps: root.calls,
    evaluations: nodes.reduce((total, node) => total + (node.evaluation ? 2 : 1), 1), // states and their evaluations
    drafts,
  };
}

function drafted({ board, evaluation, revised: shares }: Root, draft: Draft, win: number): DraftedMove {
  const first = draft.nodes[0]!;
  return {
    move: draft.move,
    before: evaluation.priors.get(draft.move)!,
    after: shares.get(draft.move)!,
    value: first.board && probability(first.odds),
    revised: win,
    line: plies(board, draft.line()),
  };
}

/** A drafted line with the positions in it. */
function plies(board: Board, line: DraftNode[]): Ply[] {
  let here: Board | null = board;
  return line.map(({ move, predicted, board: after }) => {
    const ply = plyOf(here, move, predicted.board, predicted.problem, predicted.squares);
    here = after;
    return ply;
  });
}
