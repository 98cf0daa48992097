// Who can be played: asked at the start and again while a network is being loaded.

import { api } from "./api";
import { ableAgents, cardOf } from "./select";
import type { Opponent } from "./state";
import { attempt, changed, state } from "./store";

const PAUSE_MS = 1000;

/** The first agent that can play here; agents of the last visit are kept if they still can. */
function settle(kept: Opponent, choice: number): Opponent {
  const able = ableAgents(state);
  const card = able.find((each) => each.id === kept.agent) ?? able[choice] ?? able[0];
  if (!card) return kept;
  const level = card.id === kept.agent ? Math.min(kept.level, card.levels.length - 1) : card.default;
  return { agent: card.id, level };
}

/** Whoever cannot play here is replaced, but not the opponent of a game that has begun. A dialog may be older than the list. */
function settleAll(): void {
  const { play, puzzles, compare, dialog } = state;
  if (!play.game.moves.length || !cardOf(state, play.opponent.agent)) play.opponent = settle(play.opponent, 0);
  if (dialog?.kind === "new") dialog.opponent = settle(dialog.opponent, 0);
  puzzles.opponent = settle(puzzles.opponent, 0);
  compare.sides.forEach((side, index) => (side.opponent = settle(side.opponent, index)));
}

/** Fetch the list and choose opponents; goes on by itself until no network is being loaded any more. */
export async function meetAgents(): Promise<void> {
  if (!(await attempt(async () => void (state.agents = await api.agents())))) return;
  settleAll();
  if (state.agents.some((card) => card.state === "loading")) window.setTimeout(() => void watch(), PAUSE_MS);
  changed();
}

/** What the player chose meanwhile stays, where it can play. */
async function watch(): Promise<void> {
  try {
    state.agents = await api.agents();
    settleAll();
  } catch {
    // The server is busy or gone; whoever asks it next is told.
  }
  if (state.agents.some((card) => card.state === "loading")) window.setTimeout(() => void watch(), PAUSE_MS);
  changed();
}
