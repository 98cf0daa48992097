// Sampling of moves. The same game always gives the same move; its lots are not those of the server.

import { argmax, softmax } from "../numbers";
import type { Board } from "../rules/board";

/** A number in [0, 1) that follows from the game alone. */
function lot(board: Board): number {
  let hash = 2166136261;
  for (const letter of `${board.start} ${board.played.join(" ")}`) {
    hash = Math.imul(hash ^ letter.codePointAt(0)!, 16777619);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 2246822507);
  hash = Math.imul(hash ^ (hash >>> 13), 3266489909);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** The likeliest move at temperature 0, else one drawn from shares ** (1 / temperature). */
export function choose(shares: Map<string, number>, temperature: number, board: Board): string {
  const moves = [...shares.keys()];
  const weights = [...shares.values()];
  if (temperature === 0) return moves[argmax(weights)]!;
  const powers = softmax(weights.map((weight) => (temperature === Infinity ? 0 : Math.log(weight) / temperature)));
  let left = lot(board);
  for (const [index, power] of powers.entries()) {
    left -= power;
    if (left < 0) return moves[index]!;
  }
  return moves[argmax(weights)]!;
}
