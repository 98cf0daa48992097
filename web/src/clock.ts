// The chess clock: it belongs to the page. It starts with the first move, and a side without time loses.

import type { Side } from "./api";
import { gameOver } from "./select";
import type { Clock, TimeControl } from "./state";
import { changed, state } from "./store";

export function newClock({ minutes, increment }: TimeControl): Clock | null {
  if (!minutes) return null;
  return { minutes, increment, left: { white: minutes * 60_000, black: minutes * 60_000 }, since: null };
}

const running = (): Side | null => {
  const { clock, position } = state.play;
  return clock?.since && position && !gameOver(state.play) ? position.turn : null;
};

/** Milliseconds that a side has left at this moment. */
export function timeLeft(clock: Clock, side: Side): number {
  const used = running() === side ? Date.now() - clock.since! : 0;
  return Math.max(0, clock.left[side] - used);
}

/** Called when a move of `side` has come on the board: its time is settled and the other side's begins. */
export function pressClock(side: Side): void {
  const { clock } = state.play;
  if (!clock) return;
  if (clock.since !== null) {
    clock.left[side] = Math.max(0, clock.left[side] - (Date.now() - clock.since)) + 1000 * clock.increment;
  }
  clock.since = Date.now();
  tick();
}

/** Both sides' clocks stand; what was used so far is counted. */
export function stopClock(): void {
  const { clock, position } = state.play;
  if (!clock || clock.since === null || !position) return;
  clock.left[position.turn] = Math.max(0, clock.left[position.turn] - (Date.now() - clock.since));
  clock.since = null;
}

let timer = 0;
let outOfTime: (side: Side) => void = () => undefined;

/** Who is told that a side has no time left. */
export function onOutOfTime(act: (side: Side) => void): void {
  outOfTime = act;
}

/** Draw again when the figures change, and end the game when a side has no time left. */
export function tick(): void {
  window.clearTimeout(timer);
  const side = running();
  const clock = state.play.clock;
  if (!side || !clock) return;
  const left = timeLeft(clock, side);
  if (left <= 0) {
    outOfTime(side);
    return;
  }
  changed();
  timer = window.setTimeout(tick, left > 20_000 ? (left % 1000) + 5 : 100);
}

export function clockText(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 20) return `0:${seconds.toFixed(1).padStart(4, "0")}`;
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
