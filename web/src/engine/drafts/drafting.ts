// Drafts: the likeliest first moves of a position, each with the lines that the network plays after it (drafts/drafting.py).

import { logOdds } from "../numbers";
import type { Board } from "../rules/board";
import { byShare, type Evaluation, type PredictedState, type Run } from "../run";
import { successors, type Successor } from "../search/dynamics";
import { BEFORE, FIRST_LINE, NODES, PLIES, SECOND_LINE } from "../tokens/drafts";

/** One drafted position. */
export interface DraftNode {
  move: string; // leads to it
  logShare: number; // log probability of that move where it was played
  board: Board | null; // null: what the network predicted is no valid position
  odds: number; // log odds of the root's mover
  over: boolean; // whether the game is over there
  evaluation: Evaluation | null; // null where the game is over, or there is no position
  predicted: PredictedState;
}

/** A first move and what was drafted after it. */
export class Draft {
  readonly nodes: (DraftNode | null)[] = new Array<DraftNode | null>(NODES).fill(null);

  constructor(readonly move: string) {}

  /** Whether a second line was drafted, or there is nothing to draft: no second reply, or the game is over. */
  get hasSecond(): boolean {
    const replies = this.nodes[0]?.evaluation?.priors.size ?? 0;
    return this.nodes[SECOND_LINE[1]!] !== null || replies < 2;
  }

  /** The positions of the first line. */
  line(): DraftNode[] {
    return FIRST_LINE.flatMap((node) => this.nodes[node] ?? []);
  }
}

/** A node to be drafted: a move in the position before it. */
interface Wanted {
  draft: Draft;
  node: number;
  board: Board;
  evaluation: Evaluation;
  move: string;
}

/** Drafts for some positions together: one call for the states of a ply, and one for their evaluation. */
export class Drafter {
  calls = 0; // of the network, since this object was made

  constructor(private readonly run: Run) {}

  /** For each position its `count` likeliest moves, each with one line of `depth` plies. */
  async firstLines(boards: Board[], roots: Evaluation[], count: number, depth: number): Promise<Draft[][]> {
    const wanted: Wanted[] = [];
    const out = boards.map((board, at) =>
      byShare(roots[at]!.priors)
        .slice(0, count)
        .map((move) => {
          const draft = new Draft(move);
          wanted.push({ draft, node: 0, board, evaluation: roots[at]!, move });
          return draft;
        }),
    );
    await this.add(wanted, true);
    await this.goOn(out.flat(), FIRST_LINE, depth);
    return out;
  }

  /** To each draft the line after the second-likeliest reply, where there is one. */
  secondLines(drafts: Draft[], depth: number): Promise<void> {
    return this.goOn(drafts, SECOND_LINE, depth);
  }

  private async goOn(drafts: Draft[], line: number[], depth: number): Promise<void> {
    for (const node of line.slice(1, depth)) await this.add(drafts.flatMap((draft) => next(draft, node)));
  }

  private async add(wanted: Wanted[], atRoot = false): Promise<void> {
    if (!wanted.length) return;
    const states = await successors(
      this.run,
      wanted.map(({ board }) => board),
      wanted.map(({ evaluation }) => evaluation),
      wanted.map(({ move }) => move),
      atRoot,
    );
    const open = states.flatMap(({ board, outcome }) => (board && !outcome ? [board] : []));
    this.calls += open.length ? 2 : 1;
    const evaluations = (open.length ? await this.run.evaluate(open) : []).values();
    wanted.forEach((one, at) => {
      const { board, outcome } = states[at]!;
      one.draft.nodes[one.node] = nodeOf(one, states[at]!, board && !outcome ? evaluations.next().value! : null);
    });
  }
}

function nodeOf({ node, move, ...from }: Wanted, state: Successor, evaluation: Evaluation | null): DraftNode {
  const { board, outcome, predicted } = state;
  const value = outcome === "mated" ? 0 : (evaluation?.value ?? 0.5);
  return {
    move,
    logShare: Math.log(Math.max(from.evaluation.priors.get(move)!, 1e-30)),
    board,
    odds: (PLIES[node]! % 2 ? -1 : 1) * logOdds(value), // after an odd number of plies the opponent is to move
    over: outcome !== null,
    evaluation,
    predicted,
  };
}

/** The node to be drafted after the node before it, where the game goes on there and has a move for it. */
function next(draft: Draft, node: number): Wanted[] {
  const before = draft.nodes[BEFORE[node]!];
  if (!before?.evaluation || !before.board) return [];
  const { evaluation, board } = before;
  const rank = node === SECOND_LINE[1] ? 1 : 0; // the second line begins with the second-likeliest reply
  const move = byShare(evaluation.priors)[rank];
  return move === undefined ? [] : [{ draft, node, board, evaluation, move }];
}
