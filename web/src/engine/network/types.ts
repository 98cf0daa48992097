// What the engine asks of a network, in token ids. Whoever answers (graphs in WASM, a mock in tests) implements this.

import type { Kind } from "../tokens/layout";

/** What the network keeps of an evaluated root for predicting the states after its moves; opaque to the engine. */
export type Context = object;

export interface Look {
  moves: Float32Array; // logits of the first move, without the legality mask
  value: number; // win probability of the side to move
  context: Context | null;
}

export interface NextState {
  row: Uint8Array; // the predicted state
  logProbability: number; // of all its variables
}

/** Logits of all predicted variables by type, each variable's after the other's in the order of the record. */
export type RecordLogits = Record<Kind, Float32Array>;

/** A drafted position: log odds of the root's mover, log probability of the move that leads to it. */
export interface DraftedState {
  context: Context | null; // null where the game is over
  odds: number;
  logShare: number;
  over: boolean;
}

/** The drafts of a root: for each its nodes (tokens/drafts.ts), null where there is no valid position. */
export interface RootDrafts {
  context: Context | null;
  odds: number; // of the root itself
  drafts: (DraftedState | null)[][];
}

/** Scores are added to the log probabilities of the drafted moves, then all are multiplied by `scale`. */
export interface DraftReading {
  scores: number[]; // of the drafted moves
  scale: number;
  wins: number[]; // win probabilities of the root's mover after the drafted moves
}

export interface Network {
  /** Looks at roots [each 68 numbers] in one call. */
  evaluate(states: Uint8Array[]): Promise<Look[]>;
  /** The states after one move of each root, in one call. */
  predict(states: Uint8Array[], contexts: (Context | null)[], moves: number[]): Promise<NextState[]>;
  /** Logits of one record of a horizon in which masked variables carry their mask tokens. */
  denoise(record: Int32Array, horizon: number): Promise<{ logits: RecordLogits; value: number }>;
  /** Reads the drafts of each root. */
  revise(roots: RootDrafts[]): Promise<DraftReading[]>;
}
