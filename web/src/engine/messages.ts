// The messages between page and worker. Every request has a number, and its answer has the same.

import type { AgentCard, Game, PuzzleAttempt, ReviewSlice, Thought } from "../api-types";

interface Asked {
  agent: string;
  level: number;
}

export interface Requests {
  think: { asked: Asked & { game: Game; drawOffered: boolean }; answer: Thought };
  review: { asked: Asked & { game: Game; first: number; count: number }; answer: ReviewSlice };
  agentPuzzle: { asked: Asked & { id: number }; answer: PuzzleAttempt };
}

export type Topic = keyof Requests;

export type ToWorker =
  | { [T in Topic]: { number: number; topic: T; asked: Requests[T]["asked"] } }[Topic]
  | { cancel: number }; // the page does not want the answer any more

export type FromWorker =
  | { number: number; answer: Requests[Topic]["answer"] }
  | { number: number; refused: string }
  | { number: number; cancelled: true }
  | { state: AgentCard["state"]; problem: string | null }; // of the network
