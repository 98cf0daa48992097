// What comes out of denoising, drafting or searching: the move and the future expected with it (inference/imagination.py).

import { makeSquare } from "chessops/util";
import type { Board } from "./rules/board";

/** One imagined ply: the move and the state that the network believes follows. */
export interface Ply {
  move: string | null; // null where the network says that the game is over
  legal: boolean; // in the state that it is played in
  board: Board | null; // the imagined next state; null if it is no valid position or is not imagined
  problem: string | null; // why there is none
  follows: boolean; // whether the state is exactly what the move gives
  squares: string | null; // the imagined board as 64 characters from a8, valid or not
  wrong: string[]; // squares that differ from the true result of the move
}

export interface Frame {
  step: number; // 0: everything is masked
  moves: (string | null)[]; // null while masked, "0000" where the game is over
  squares: string[]; // for each imagined state, '?' while masked
  confidence: number[][];
  probabilities: Map<string, number>; // of the likeliest first moves
}

export interface Imagination {
  line: Ply[];
  film: Frame[];
  legalMass: number | null;
  steps: number; // network calls
}

/** A first move with what was drafted after it. Win probabilities are those of the mover. */
export interface DraftedMove {
  move: string;
  before: number; // probability at the first look
  after: number; // after the drafts were read
  value: number | null; // after the move, by one evaluation
  revised: number; // the same, as read from the draft
  line: Ply[];
}

/** A move with its future, by joint denoising or by drafts. */
export interface Imagined extends Imagination {
  move: string;
  shares: Map<string, number>; // of the moves that may be played, likeliest first; sum 1
  value: number;
  evaluations: number;
  drafts: DraftedMove[]; // likeliest move of the first look first
}

/** A move in an imagined state and the state after it, compared with what the rules make of the move. */
export function plyOf(
  here: Board | null,
  move: string | null,
  following: Board | null,
  problem: string | null,
  squares: string | null,
): Ply {
  const result = here && move && here.isLegal(move) ? here.alone().push(move) : null;
  const follows = result !== null && following !== null && result.fen === following.fen;
  const wrong = result && squares ? differences(squares, result.squares()) : [];
  return { move, legal: result !== null, board: following, problem, follows, squares, wrong };
}

function differences(imagined: string, real: string): string[] {
  const out: string[] = [];
  for (let square = 0; square < 64; square += 1) {
    if (imagined[square ^ 56] !== real[square ^ 56]) out.push(makeSquare(square));
  }
  return out;
}

/** The moves up to the end of the game or the first one that is not legal where it is played. */
export function legalLine(line: Ply[]): string[] {
  const out: string[] = [];
  for (const ply of line) {
    if (ply.move === null || !ply.legal) break;
    out.push(ply.move);
  }
  return out;
}

/** A line as far as it can be played on the true board. */
export function playable(board: Board, line: string[]): string[] {
  const out: string[] = [];
  let real = board.alone();
  for (const move of line) {
    if (!real.isLegal(move)) break;
    real = real.push(move);
    out.push(move);
  }
  return out;
}
