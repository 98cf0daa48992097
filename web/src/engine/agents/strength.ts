// Strength 0 to 100: moves are sampled at a temperature, and the search is reduced (agents/strength.py).

import { roundHalfEven } from "../numbers";

export const FULL = 100;

export const temperatureOf = (strength: number): number => (strength <= 0 ? Infinity : (FULL - strength) / strength);

/** How many of `full` steps or plies are spent. */
export const effort = (strength: number, full: number): number =>
  Math.max(1, roundHalfEven((full * strength) / FULL));
