// Joint denoising: from a record in which only the root is visible to a whole record (diffusion/sampling.py).

import type { Network, RecordLogits } from "../network/types";
import { argmax, logSumExp, roundHalfEven, softmax } from "../numbers";
import type { Board } from "../rules/board";
import type { Frame } from "../imagination";
import { GIVEN, KINDS, masked, members, plyOf, segmentEnds, SIZES, targets, variables } from "../tokens/layout";
import { boardRow } from "../tokens/states";
import { moveId } from "../tokens/moves";
import { frameOf } from "./reading";

export interface Decoding {
  order: "plies" | "confidence"; // move by move and state by state, or easy first
  steps: number; // network calls at most
  timesteps: number; // T of the process
  carry: "predict" | "keep"; // easy first: what is visible is predicted anew, or stays
  drafts: number; // first moves that are drafted (drafts/); 0: joint denoising
  depth: number; // plies of a draft
  rounds: number; // times that the leading move gets a second reply
}

export interface Sample {
  record: Int32Array;
  shares: Float64Array; // of the first move when it was fixed, under the legality mask
  rawShares: Float64Array; // the same before the mask
  value: number;
  steps: number; // network calls
  film: Frame[];
}

/** How many targets are visible after each network call. */
export function schedule(horizon: number, { order, steps, timesteps }: Decoding): number[] {
  const count = targets(horizon);
  if (order === "plies") {
    const ends = segmentEnds(horizon);
    const calls = Math.min(steps, ends.length);
    if (calls === 1) return [count];
    return Array.from({ length: calls }, (_, call) => ends[Math.ceil((call * (ends.length - 1)) / (calls - 1))]!);
  }
  const most = Math.min(steps, timesteps);
  return Array.from({ length: most }, (_, call) => {
    const after = roundHalfEven((timesteps * (most - call - 1)) / most);
    return count - Math.floor((count * after) / timesteps);
  });
}

interface Prediction {
  tokens: Int32Array; // of every target
  logLikelihood: Float64Array; // -Infinity beyond the computed horizon
}

/** Denoises one record; `allowed` are the first moves that may be played. */
export async function denoise(
  network: Network,
  root: Board,
  horizon: number,
  decoding: Decoding,
  allowed: readonly string[],
): Promise<Sample> {
  const count = targets(horizon);
  const record = masked(boardRow(root, root.turn), horizon);
  const masks = record.slice(GIVEN);
  const legal = new Set(allowed.map((uci) => moveId(uci, root.turn === "black")));
  const keeps = decoding.order === "plies" || decoding.carry === "keep";
  const visible = new Uint8Array(count);
  const likelihood = new Float64Array(count); // log-probability with which each target was fixed last
  const film: Frame[] = [frameOf(0, record, new Float64Array(count), null, horizon, root)];
  let [shares, rawShares]: Float64Array[] = [new Float64Array(0), new Float64Array(0)];
  let [value, steps] = [0, 0];
  for (const keep of schedule(horizon, decoding)) {
    const here = decoding.order === "plies" ? plyOf(GIVEN + keep - 1) + 1 : horizon;
    const found = await network.denoise(record.slice(0, variables(here)), here);
    if (!steps) value = found.value;
    const raw = found.logits.action.slice(0, SIZES.action);
    found.logits.action.forEach((_, id, all) => {
      if (id < SIZES.action && !legal.has(id)) all[id] = -Infinity;
    });
    const first = softmax(found.logits.action.subarray(0, SIZES.action));
    const { tokens, logLikelihood } = predicted(found.logits, here, count, record, keeps ? visible : null);
    const chosen = ranked(decoding, keep, keeps, visible, logLikelihood);
    if (chosen.has(0) && !(keeps && visible[0])) [shares, rawShares] = [first, softmax(raw)];
    for (let at = 0; at < count; at += 1) {
      const fixed = chosen.has(at);
      if (fixed && !(keeps && visible[at])) likelihood[at] = logLikelihood[at]!;
      visible[at] = fixed || (keeps && visible[at]) ? 1 : 0;
      record[GIVEN + at] = visible[at] ? tokens[at]! : masks[at]!;
    }
    steps += 1;
    const likely = likelihood.map((fixed, at) => Math.exp(visible[at] ? fixed : logLikelihood[at]!));
    film.push(frameOf(steps, record, likely, first, horizon, root));
    if ((keeps || count === 1) && visible.every(Boolean)) break;
  }
  return { record, shares: shares!, rawShares: rawShares!, value, steps, film };
}

/** The likeliest token of every target, or with `visible` the token that is visible already. */
function predicted(
  logits: RecordLogits,
  horizon: number,
  count: number,
  record: Int32Array,
  visible: Uint8Array | null,
): Prediction {
  const tokens = record.slice(GIVEN);
  const logLikelihood = new Float64Array(count).fill(-Infinity);
  for (const kind of KINDS) {
    const size = SIZES[kind];
    members(kind, horizon).forEach((variable, number) => {
      const at = variable - GIVEN;
      const own = logits[kind].subarray(number * size, (number + 1) * size);
      if (!visible?.[at]) tokens[at] = argmax(own);
      logLikelihood[at] = own[tokens[at]!]! - logSumExp(own);
    });
  }
  return { tokens, logLikelihood };
}

/** The targets that are visible after a call: the first ones ply by ply, else the likeliest. */
function ranked(
  { order }: Decoding,
  keep: number,
  keeps: boolean,
  visible: Uint8Array,
  logLikelihood: Float64Array,
): Set<number> {
  const all = Array.from(visible.keys());
  if (order === "plies") return new Set(all.slice(0, keep));
  const score = (at: number): number => (keeps && visible[at] ? Infinity : logLikelihood[at]!);
  return new Set(all.sort((a, b) => (score(a) === score(b) ? a - b : score(b) - score(a))).slice(0, keep));
}
