// Runs the film of a thought: one frame after the other until the end.

import type { Thought } from "./api";
import type { Showing } from "./state";
import { changed } from "./store";

const FRAME_MS = 350;
const timers = new WeakMap<Showing, number>();

export function stop(showing: Showing): void {
  window.clearTimeout(timers.get(showing));
  showing.running = false;
  changed();
}

export function seek(showing: Showing, thought: Thought, frame: number): void {
  stop(showing);
  showing.frame = frame >= thought.film.length - 1 ? null : frame;
  changed();
}

export function run(showing: Showing, thought: Thought): void {
  if (showing.running) return stop(showing);
  showing.running = true;
  showing.frame = showing.frame ?? 0; // from the start if it stands at the end
  const next = (): void => {
    const frame = (showing.frame ?? 0) + 1;
    if (frame >= thought.film.length - 1) {
      showing.frame = null;
      stop(showing);
      return;
    }
    showing.frame = frame;
    changed();
    timers.set(showing, window.setTimeout(next, FRAME_MS));
  };
  timers.set(showing, window.setTimeout(next, FRAME_MS));
  changed();
}
