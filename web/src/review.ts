// The review of a game: an agent judges every move, slice by slice, so that the graph grows as it works.

import { api, Cancelled, type ReviewedMove, type Side } from "./api";
import { ableAgents, cardOf } from "./select";
import type { Opponent, PlayState, Review } from "./state";
import { attempt, changed, state } from "./store";

const play = state.play;
const SLICE = 6; // half-moves of one request
const SMALLEST = 0.1; // a drop of the win probability that is called a mistake
const MOST = 3; // mistakes of each side that are named

let controller = new AbortController();

export const isMistake = (move: ReviewedMove): boolean => move.loss >= SMALLEST && move.uci !== move.best.uci;

/** The largest mistakes of either side, in the order of the game. */
export function mistakes(play: PlayState): ReviewedMove[] {
  const bad = (play.review?.moves ?? []).filter(isMistake);
  const worst = (side: Side): ReviewedMove[] =>
    bad.filter((move) => move.side === side).sort((a, b) => b.loss - a.loss).slice(0, MOST);
  return [...worst("white"), ...worst("black")].sort((a, b) => a.ply - b.ply);
}

/** White's win probability before the first move and after every reviewed one. */
export function chances(play: PlayState): number[] {
  const { start, moves } = play.review ?? { start: null, moves: [] };
  return start === null ? [] : [start, ...moves.map((move) => move.white_value)];
}

/** Who reviews: the opponent at its usual strength if it judges positions, else the first that can play here. */
function reviewer(): Opponent {
  const judges = Object.values(play.thoughts).some((thought) => thought.value !== null);
  const card = (judges && cardOf(state, play.opponent.agent)) || ableAgents(state)[0];
  return card ? { agent: card.id, level: card.default } : play.opponent;
}

export async function startReview(): Promise<void> {
  if (play.review?.running || !play.game.moves.length) return;
  controller = new AbortController();
  const { signal } = controller;
  const review: Review = play.review ?? { opponent: reviewer(), start: null, moves: [], running: false };
  review.running = true;
  Object.assign(play, { review, closed: true });
  changed();
  const { agent, level } = review.opponent;
  const game = play.game;
  await attempt(async () => {
    try {
      while (review.moves.length < game.moves.length) {
        const first = review.moves.length;
        const count = Math.min(SLICE, game.moves.length - first);
        const slice = await api.review(game, agent, level, first, count, signal);
        review.start ??= slice.start_value;
        review.moves.push(...slice.moves);
        if (!slice.moves.length) break;
        changed();
      }
      state.said = `The review is ready: ${mistakes(play).length} large mistakes`;
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
    }
  });
  review.running = false;
  changed();
}

/** Stop judging, on the server too; what was judged so far stays. */
export function stopReview(): void {
  controller.abort();
}

export function closeReview(): void {
  stopReview();
  play.review = null;
  changed();
}
