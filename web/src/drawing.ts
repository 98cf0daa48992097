// The player's own arrows and circles: drawn with the right button, gone with the next move or a click.

import type { Side } from "./api";
import { changed, state } from "./store";

/** The square under the pointer. */
export function squareAt(event: PointerEvent, orientation: Side): string | null {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  const column = Math.floor((8 * (event.clientX - box.left)) / box.width);
  const row = Math.floor((8 * (event.clientY - box.top)) / box.height);
  if (column < 0 || column > 7 || row < 0 || row > 7) return null;
  const [file, rank] = orientation === "white" ? [column, 7 - row] : [7 - column, row];
  return "abcdefgh"[file]! + String(rank + 1);
}

let began: string | null = null;

export function drawStart(event: PointerEvent, orientation: Side): void {
  if (event.button === 2) began = squareAt(event, orientation);
  else if (state.play.drawn.length && event.button === 0) {
    state.play.drawn = [];
    changed();
  }
}

/** The same arrow a second time takes it away. */
export function drawEnd(event: PointerEvent, orientation: Side): void {
  const to = squareAt(event, orientation);
  if (event.button !== 2 || !began || !to) return;
  const from = began;
  began = null;
  const others = state.play.drawn.filter((each) => each.from !== from || each.to !== to);
  state.play.drawn = others.length === state.play.drawn.length ? [...others, { from, to }] : others;
  changed();
}
