// Ends that the players make: resigning, and a draw by agreement. The offer goes with the player's next move.

import type { Side } from "./api";
import { stopClock } from "./clock";
import { gameOver, sideName } from "./select";
import { tap } from "./sound";
import type { Ending, PlayState } from "./state";
import { changed, state } from "./store";

const play = state.play;

export function end(ending: Ending): void {
  stopClock();
  Object.assign(play, { ended: ending, thinking: false, premove: null, offer: "none", closed: false });
  state.said = `Game over: ${ending.reason}`;
  if (state.settings.sound) tap("end");
  changed();
}

export const lossOf = (side: Side, words: string, how: Ending["how"]): Ending => ({
  score: side === "white" ? "0-1" : "1-0",
  reason: `${sideName(side)} ${words}`,
  how,
});

export const agreedDraw = (): Ending => ({ score: "1/2-1/2", reason: "draw by agreement", how: { draw_agreed: true } });

export function askToResign(): void {
  if (!play.position || gameOver(play)) return;
  state.dialog = { kind: "resign" };
  changed();
}

/** The player gives up; in a game of two players it is the side to move. */
export function resign(): void {
  if (!play.position || gameOver(play)) return;
  const side = play.human === "both" ? play.position.turn : play.human;
  end(lossOf(side, "resigned", { resigned: side }));
}

export const mayOfferDraw = (play: PlayState): boolean =>
  !!play.position && !gameOver(play) && play.game.moves.length > 0 && play.offer !== "made";

/** Two players at one board agree at once; an agent answers by its value when it thinks about the next move. */
export function offerDraw(): void {
  if (!mayOfferDraw(play)) return;
  if (play.human === "both") return end(agreedDraw());
  play.offer = "made";
  state.said = "You offer a draw with your next move";
  changed();
}
