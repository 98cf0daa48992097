// The one state and the one way to draw it again: change the state, call `changed`.

import { Refused } from "./api";
import { save } from "./keep";
import { initialState } from "./state";

export const state = initialState();

let draw: () => void = () => undefined;
let asked = false;

export function drawWith(render: () => void): void {
  draw = render;
}

/** Draw soon: several changes in one turn of the event loop cost one drawing. */
export function changed(): void {
  if (asked) return;
  asked = true;
  queueMicrotask(() => {
    asked = false;
    save(state);
    draw();
  });
}

/** Run something that asks the server; a refusal becomes the sentence on the page. Says whether it went well. */
export async function attempt(work: () => Promise<void>): Promise<boolean> {
  try {
    state.problem = null;
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    state.problem = error.message;
    return false;
  } finally {
    changed();
  }
}
