// The layout of a record s-asa in the compact encoding: a state of 68 variables, an action, and so on, ply by ply.

import { VOCABULARY } from "./moves";
import { CASTLING, CLOCK, EN_PASSANT, SIDE, WIDTH } from "./states";

export const PLY = WIDTH + 1; // variables of one ply
export const GIVEN = WIDTH; // the root's state

export const KINDS = ["action", "square", "castling", "en passant", "side", "clock"] as const;
export type Kind = (typeof KINDS)[number];

export const SIZES: Record<Kind, number> = {
  action: VOCABULARY,
  square: 13,
  castling: 16,
  "en passant": 9,
  side: 2,
  clock: 256,
};

export const variables = (horizon: number): number => horizon * PLY;
export const targets = (horizon: number): number => variables(horizon) - GIVEN;
export const stateStart = (ply: number): number => ply * PLY;
export const actionStart = (ply: number): number => ply * PLY + WIDTH;
export const plyOf = (variable: number): number => Math.floor(variable / PLY);

/** The type of a variable. */
export function kindOf(variable: number): Kind {
  const slot = variable % PLY;
  if (slot < 64) return "square";
  if (slot === CASTLING) return "castling";
  if (slot === EN_PASSANT) return "en passant";
  if (slot === SIDE) return "side";
  return slot === CLOCK ? "clock" : "action";
}

/** The size of a variable's vocabulary, which is also its mask token. */
export const maskOf = (variable: number): number => SIZES[kindOf(variable)];

/** The predicted variables of a type, ascending. */
export function members(kind: Kind, horizon: number): number[] {
  const out: number[] = [];
  for (let at = GIVEN; at < variables(horizon); at += 1) if (kindOf(at) === kind) out.push(at);
  return out;
}

/** Where the predicted segments end, counted in targets: the first move, the state after it, and so on. */
export function segmentEnds(horizon: number): number[] {
  const out: number[] = [];
  for (let ply = 0; ply < horizon; ply += 1) {
    if (ply) out.push(actionStart(ply) - GIVEN);
    out.push(actionStart(ply) + 1 - GIVEN);
  }
  return out;
}

/** A record of which only the root's state is known. */
export function masked(given: ArrayLike<number>, horizon: number): Int32Array {
  const out = new Int32Array(variables(horizon));
  for (let at = 0; at < out.length; at += 1) out[at] = at < GIVEN ? given[at]! : maskOf(at);
  return out;
}
