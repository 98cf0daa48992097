// Token ids -> boards: denoised records become lines and frames, in the true colours of the game.

import { plyOf, type Frame, type Ply } from "../imagination";
import { actionStart, GIVEN, stateStart } from "../tokens/layout";
import { idMove, NONE } from "../tokens/moves";
import { rowBoard, WIDTH } from "../tokens/states";
import type { Board } from "../rules/board";

const LETTERS = ".PNBRQKpnbrqk?"; // of piece codes, White's first; the last is the mask
const SHOWN = 5; // first moves that a frame names

/** The board of a row as 64 characters from a8, '?' where masked; `black`: own pieces are Black's. */
export function squaresOf(row: ArrayLike<number>, black: boolean): string {
  let out = "";
  for (let place = 0; place < 64; place += 1) {
    const code = row[black ? place : place ^ 56]!;
    const swapped = code >= 1 && code <= 12 ? ((code + 5) % 12) + 1 : code;
    out += LETTERS[black ? swapped : code]!;
  }
  return out;
}

/** The action at a ply; null if it is masked or the game is over. */
function moveAt(record: ArrayLike<number>, ply: number, black: boolean): string | null {
  const token = record[actionStart(ply)]!;
  return token >= NONE ? null : idMove(token, black);
}

const rowAt = (record: Int32Array, ply: number): Int32Array =>
  record.subarray(stateStart(ply), stateStart(ply) + WIDTH);

/** The imagined plies, up to the end of the game as the network sees it. */
export function lineOf(record: Int32Array, horizon: number, root: Board): Ply[] {
  const black = root.turn === "black";
  const plies: Ply[] = [];
  let here: Board | null = root;
  for (let ply = 0; ply < horizon; ply += 1) {
    const move = moveAt(record, ply, black);
    if (move === null) break;
    let [following, problem, squares]: [Board | null, string | null, string | null] = [null, null, null];
    if (ply + 1 < horizon) {
      const row = rowAt(record, ply + 1);
      const read = rowBoard(row, root.turn, root.number + Math.floor((ply + 1 + (black ? 1 : 0)) / 2));
      if (typeof read === "string") problem = read;
      else following = read;
      squares = squaresOf(row, black);
    }
    plies.push(plyOf(here, move, following, problem, squares));
    here = following;
  }
  return plies;
}

/** A record after a step of denoising: its tokens, and how likely they are. */
export function frameOf(
  step: number,
  record: Int32Array,
  likelihood: Float64Array,
  firstMove: Float64Array | null,
  horizon: number,
  root: Board,
): Frame {
  const black = root.turn === "black";
  const plies = Array.from({ length: horizon }, (_, ply) => ply);
  return {
    step,
    moves: plies.map((ply) => (record[actionStart(ply)] === NONE ? "0000" : moveAt(record, ply, black))),
    squares: plies.slice(1).map((ply) => squaresOf(rowAt(record, ply), black)),
    confidence: plies.slice(1).map((ply) => {
      const start = stateStart(ply) - GIVEN;
      return Array.from({ length: 64 }, (_, place) => rounded(likelihood[start + (black ? place : place ^ 56)]!));
    }),
    probabilities: firstMove ? likeliest(firstMove, black) : new Map<string, number>(),
  };
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

function likeliest(shares: Float64Array, black: boolean): Map<string, number> {
  const ids = Array.from(shares.keys()).filter((id) => shares[id]! > 0 && id !== NONE);
  ids.sort((a, b) => shares[b]! - shares[a]!);
  return new Map(ids.slice(0, SHOWN).map((id) => [idMove(id, black), shares[id]!]));
}
