// A network without weights: it knows the rules, likes some moves by a formula, and counts material.

import type { DraftReading, Network, RecordLogits, RootDrafts } from "../src/engine/network/types";
import { probability } from "../src/engine/numbers";
import { Board } from "../src/engine/rules/board";
import { actionStart, KINDS, members, PLY, SIZES, stateStart } from "../src/engine/tokens/layout";
import { FIRST_LINE, SECOND_LINE } from "../src/engine/tokens/drafts";
import { idMove, moveId, NONE, VOCABULARY } from "../src/engine/tokens/moves";
import { boardRow, rowBoard, WIDTH } from "../src/engine/tokens/states";

const WORTH = [0, 1, 3, 3, 5, 9, 0, -1, -3, -3, -5, -9, 0];

function valueOf(row: ArrayLike<number>): number {
  let balance = 0;
  for (let square = 0; square < 64; square += 1) balance += WORTH[row[square]!]!;
  return 1 / (1 + Math.exp(-0.3 * balance * (row[66] ? -1 : 1)));
}

/** Legal moves are likelier than others; captures of the largest piece likeliest. */
function logitsOf(row: ArrayLike<number>): Float32Array {
  const out = new Float32Array(VOCABULARY).fill(-9);
  const board = rowBoard(row, "white", 1);
  if (typeof board === "string") return out;
  for (const uci of board.legal) {
    const taken = board.squares()[8 * (8 - Number(uci[3])) + uci.charCodeAt(2) - 97]!;
    out[moveId(uci, false)] = { p: 1, n: 3, b: 3, r: 5, q: 9 }[taken.toLowerCase()] ?? (uci.charCodeAt(2) % 7) / 10;
  }
  return out;
}

/** The state after a move, seen by the root's mover (here always White, as rows are turned). */
export function after(row: ArrayLike<number>, move: number): Uint8Array {
  const board = rowBoard(row, "white", 1) as Board;
  const uci = idMove(move, false);
  return board.isLegal(uci) ? boardRow(board.push(uci), "white") : Uint8Array.from({ length: WIDTH }, (_, at) => row[at]!);
}

export class Mock implements Network {
  calls = { evaluate: 0, predict: 0, denoise: 0, revise: 0 };

  async evaluate(states: Uint8Array[]) {
    this.calls.evaluate += 1;
    return states.map((row) => ({ moves: logitsOf(row), value: valueOf(row), context: null }));
  }

  async predict(states: Uint8Array[], _contexts: unknown, moves: number[]) {
    this.calls.predict += 1;
    return states.map((row, at) => ({ row: after(row, moves[at]!), logProbability: -0.1 }));
  }

  /** States follow from visible moves; where the state before a move is masked, "the game is over" is likeliest. */
  async denoise(record: Int32Array, horizon: number) {
    this.calls.denoise += 1;
    const logits = {} as RecordLogits;
    for (const kind of KINDS) logits[kind] = new Float32Array(members(kind, horizon).length * SIZES[kind]);
    for (let ply = 0; ply < horizon; ply += 1) {
      const state = record.subarray(stateStart(ply), stateStart(ply) + WIDTH);
      const known = state[0]! < SIZES.square;
      const own = known ? logitsOf(state) : new Float32Array(VOCABULARY).fill(-9);
      if (!known) own[NONE] = 0;
      logits.action.set(own, ply * VOCABULARY);
      const move = record[actionStart(ply)]!;
      if (ply + 1 === horizon) continue;
      const next = known && move < NONE ? after(state, move) : state;
      for (const kind of KINDS.slice(1)) {
        members(kind, horizon).forEach((variable, number) => {
          if (Math.floor(variable / PLY) === ply + 1)
            logits[kind][number * SIZES[kind] + Math.min(next[variable % PLY]!, SIZES[kind] - 1)] = 5;
        });
      }
    }
    return { logits, value: valueOf(record) };
  }

  /** The worst drafted line counts, by the mean of its log odds. */
  async revise(roots: RootDrafts[]): Promise<DraftReading[]> {
    this.calls.revise += 1;
    return roots.map(({ drafts }) => {
      const worths = drafts.map((nodes) => {
        const lines = [FIRST_LINE, SECOND_LINE].map((line) => line.flatMap((node) => nodes[node]?.odds ?? []));
        const means = lines.filter(({ length }, at) => length > at).map((odds) => mean(odds));
        return Math.min(...means);
      });
      return { scores: worths.map((worth) => 4 * worth), scale: 1, wins: worths.map(probability) };
    });
  }
}

const mean = (numbers: number[]): number => numbers.reduce((total, each) => total + each, 0) / numbers.length;

/** The board after some moves from the usual start. */
export const played = (moves: string): Board =>
  moves.split(" ").filter(Boolean).reduce((board, uci) => board.push(uci), Board.initial());
