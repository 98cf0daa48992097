// Small numerical functions, in double precision.

export function softmax(logits: ArrayLike<number>): Float64Array {
  const out = Float64Array.from(logits);
  let most = -Infinity;
  for (const each of out) if (each > most) most = each;
  let total = 0;
  for (let at = 0; at < out.length; at += 1) total += out[at] = Math.exp(out[at]! - most);
  for (let at = 0; at < out.length; at += 1) out[at]! /= total;
  return out;
}

export function logSumExp(logits: ArrayLike<number>): number {
  let most = -Infinity;
  for (let at = 0; at < logits.length; at += 1) if (logits[at]! > most) most = logits[at]!;
  if (most === -Infinity) return most;
  let total = 0;
  for (let at = 0; at < logits.length; at += 1) total += Math.exp(logits[at]! - most);
  return most + Math.log(total);
}

/** The index of the largest number; the first of equals. */
export function argmax(numbers: ArrayLike<number>): number {
  let best = 0;
  for (let at = 1; at < numbers.length; at += 1) if (numbers[at]! > numbers[best]!) best = at;
  return best;
}

export const sum = (numbers: Iterable<number>): number => {
  let total = 0;
  for (const each of numbers) total += each;
  return total;
};

/** Halves go to the even neighbour, as in Python. */
export function roundHalfEven(number: number): number {
  const floor = Math.floor(number);
  if (number - floor !== 0.5) return Math.round(number);
  return floor % 2 ? floor + 1 : floor;
}

export const share = (value: number): number => Math.min(1, Math.max(0, value));

// A network is never as certain as the rules: its values are kept this far from 0 and 1, so that mate comes first.
const DOUBT = 1e-3;

export function logOdds(probability: number): number {
  const clipped = Math.min(Math.max(probability, DOUBT), 1 - DOUBT);
  return Math.log(clipped / (1 - clipped));
}

export const probability = (odds: number): number => 1 / (1 + Math.exp(-odds));
