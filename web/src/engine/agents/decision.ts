// What an agent decided in one position.

import type { Imagination } from "../imagination";
import type { Board } from "../rules/board";

/** A root move that was looked into. Values are win probabilities of the side to move at the root. */
export interface Candidate {
  move: string;
  prior: number; // the network's probability before it looked ahead
  value: number | null; // after the move, by one evaluation
  score: number | null; // the same, after looking ahead
  probability: number | null; // after looking ahead; null where a search gives none
  line: string[];
}

/** What was found after the root moves, best first: by a tree that was searched, or by drafts that the network read. */
export interface LookAhead {
  by: "search" | "drafts";
  candidates: Candidate[];
}

export interface Decision {
  move: string;
  shares: Map<string, number>; // over the moves that may be played, sums to 1
  line: string[]; // the first is the move
  value: number | null; // win probability of the side to move
  evaluations: number;
  seconds: number;
  imagination: Imagination | null;
  lookAhead: LookAhead | null;
}

/** A player. Boards are unrelated positions, each with at least one legal move. */
export interface Agent {
  decide(boards: Board[]): Promise<Decision[]>;
}

/** Decisions with the time that they took, equally shared. */
export async function timed(boards: Board[], work: () => Promise<Omit<Decision, "seconds">[]>): Promise<Decision[]> {
  const start = performance.now();
  const found = await work();
  const seconds = (performance.now() - start) / 1000 / Math.max(1, boards.length);
  return found.map((one) => ({ ...one, seconds }));
}
