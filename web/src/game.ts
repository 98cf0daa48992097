// Which game is on the board: opening, starting, taking back, browsing. The server checks every game; it lives here.

import { api, type Game } from "./api";
import { newClock, onOutOfTime, stopClock, tick } from "./clock";
import { end, lossOf } from "./ending";
import { linked } from "./keep";
import { answer, dropWork, playPremove } from "./moves";
import { stopReview } from "./review";
import { humanToMove, otherSide, shownPly } from "./select";
import { spoken } from "./speech";
import { atEnd, freshGame, type Human, type Opponent, type PlayState, type TimeControl } from "./state";
import { attempt, changed, state } from "./store";

const play = state.play;
let loads = 0; // of several games that are asked for at once the last one counts
let settle: (well: boolean) => void = () => undefined;
let settled = new Promise<boolean>((resolve) => (settle = resolve));

/** Resolves when the game that was asked for is on the board. */
export const whenSettled = (): Promise<boolean> => settled;

onOutOfTime((side) => {
  dropWork();
  end(lossOf(side, "ran out of time", { flagged: side }));
});

/** Put a game on the board: all of it is checked by the server before anything changes. */
export async function load(game: Game, settings: Partial<PlayState> = {}): Promise<boolean> {
  const number = (loads += 1);
  const { mode } = state;
  if (loads > 1) settled = new Promise((resolve) => (settle = resolve));
  if (play.position) play.premove = null; // queued for the game before
  play.loading = true;
  changed();
  const well = await attempt(async () => {
    const position = await api.position(game);
    if (number !== loads) return;
    dropWork();
    stopReview();
    // A move that was made while the position was on its way was queued and is not lost.
    const { premove } = play;
    Object.assign(play, freshGame(), { game, position, premove, ...settings });
    if (number > 1 && state.mode === mode) state.mode = "play"; // whoever has gone elsewhere meanwhile stays there
    tick();
    void playPremove();
    void answer();
  });
  if (number === loads) {
    play.loading = false;
    settle(well);
    changed();
  }
  return well;
}

/** The first game of a visit: from the link, from the last visit, or a new one. */
export async function open(): Promise<void> {
  const fromLink = linked();
  // The link has done its work: from here on a reload shows the game as it went on, not as it was shared.
  if (fromLink) history.replaceState(null, "", location.pathname);
  if (fromLink && (await load(fromLink, { human: "both" }))) {
    play.human = play.position?.turn ?? "white";
    play.flipped = play.human === "black";
    changed();
    return;
  }
  const refusal = fromLink ? state.problem : null;
  const { game, human, ended, flipped, names, clock } = play;
  if (!(await load(game, { human, ended, flipped, names, clock }))) await load({ fen: null, moves: [] });
  state.problem = refusal ?? state.problem;
  changed();
}

export function newGame(human: Human | "random", opponent: Opponent, time: TimeControl): void {
  const side: Human = human === "random" ? (Math.random() < 0.5 ? "white" : "black") : human;
  play.opponent = opponent;
  state.time = time;
  state.said = side === "both" ? "New game" : `New game, you play ${side}`;
  void load({ fen: null, moves: [] }, { human: side, flipped: side === "black", clock: newClock(time) });
}

/** The same opponent again, with the other colour. */
export function rematch(): void {
  newGame(play.human === "both" ? "both" : otherSide(play.human), play.opponent, state.time);
}

/** Back to the player's own last turn (or by one half-move when both sides are the player's). */
export function takeBack(): void {
  const turns = play.human === "both" || !humanToMove(play) ? 1 : 2;
  const left = Math.max(0, play.game.moves.length - turns);
  if (left === play.game.moves.length) return;
  const thoughts = Object.fromEntries(Object.entries(play.thoughts).filter(([ply]) => Number(ply) < left));
  const { human, flipped, names, clock } = play;
  stopClock();
  if (clock) clock.since = left ? Date.now() : null;
  void load({ fen: play.game.fen, moves: play.game.moves.slice(0, left) }, { human, flipped, names, thoughts, clock });
}

export function flip(): void {
  play.flipped = !play.flipped;
  changed();
}

/** Look at an earlier position; the game stays as it is. */
export function browse(ply: number): void {
  const last = play.game.moves.length;
  const target = Math.max(0, Math.min(last, ply));
  play.cursor = target === last ? null : target;
  Object.assign(play, { showing: atEnd(), drawn: [] });
  state.said = target ? spoken(play.position?.history[target - 1]?.san ?? "") : "Start of the game";
  changed();
}

/** The game up to what is on the board. */
export const shownGame = (): Game => ({ fen: play.game.fen, moves: play.game.moves.slice(0, shownPly(play)) });

export async function paste(text: string, human: Human): Promise<boolean> {
  let pasted: Awaited<ReturnType<typeof api.paste>> | null = null;
  if (!(await attempt(async () => void (pasted = await api.paste(text))))) return false;
  const { fen, moves, white, black } = pasted!;
  // The names of a pasted game stay while it is only looked at; who plays on is somebody else.
  const names = human === "both" ? { white, black } : { white: null, black: null };
  return load({ fen, moves }, { human, names, flipped: human === "black" });
}
