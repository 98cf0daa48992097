// Making moves: the player's, the queued one (premove), and the agent's with the thought behind it.

import { api, Cancelled, type Side } from "./api";
import { pressClock } from "./clock";
import { agreedDraw, end } from "./ending";
import { gameOver, humanToMove, mayImagine, nameOf, resultOf, scoreWords, sideName } from "./select";
import { tap } from "./sound";
import { spoken } from "./speech";
import { atEnd } from "./state";
import { attempt, changed, state } from "./store";

const play = state.play;
let work = new AbortController(); // replaced with the game, so that late answers are dropped

/** Forget what is under way for the game so far, on the server too. */
export function dropWork(): void {
  work.abort();
  work = new AbortController();
  play.thinking = false;
}

/** A move by the player, from the board or typed; the server's list says what is legal. */
export async function move(uci: string): Promise<void> {
  if (!play.position?.legal.some((legal) => legal.uci === uci) || gameOver(play)) return;
  Object.assign(play, { pending: true, premove: null, drawn: [] });
  changed();
  await push(uci);
  void answer();
}

async function push(uci: string): Promise<void> {
  const { signal } = work;
  const game = { fen: play.game.fen, moves: [...play.game.moves, uci] };
  const mover = play.position?.turn ?? "white";
  await attempt(async () => {
    const position = await api.position(game);
    if (signal.aborted || play.ended) return;
    pressClock(mover);
    Object.assign(play, { game, position, cursor: null, showing: atEnd(), drawn: [] });
    if (state.settings.sound) tap(position.result ? "end" : "move");
    announce(mover);
  });
  play.pending = false;
  changed();
}

/** The last move and, where the game is over, its result, for screen readers. */
function announce(mover: Side): void {
  const san = play.position?.history.at(-1)?.san ?? "";
  const result = resultOf(play);
  const who = play.human === "both" ? sideName(mover) : nameOf(state, mover);
  state.said = `${who}: ${spoken(san)}${result ? `. Game over, ${scoreWords(result.score)}: ${result.reason}` : ""}`;
}

/** Queue a move for when the other side has moved; it is dropped if it is not legal then. */
export function queueMove(from: string, to: string): void {
  play.premove = { from, to };
  state.said = `Premove ${from} to ${to}`;
  changed();
}

export function dropPremove(): void {
  if (!play.premove) return;
  play.premove = null;
  state.said = "Premove cancelled";
  changed();
}

export async function playPremove(): Promise<void> {
  const queued = play.premove;
  if (!queued || !humanToMove(play) || gameOver(play)) return;
  play.premove = null;
  const fits = play.position?.legal.filter((each) => each.source === queued.from && each.target === queued.to) ?? [];
  const found = fits.find((each) => each.promotion === "q") ?? fits[0];
  if (found) await move(found.uci);
  else state.said += ". The premove is not legal";
  changed();
}

/** Let the agent move if it is its turn; a draw offer that the player made goes with the question. */
export async function answer(): Promise<void> {
  if (!play.position || humanToMove(play) || gameOver(play) || play.thinking || !play.opponent.agent) return;
  const offered = play.offer === "made";
  const thought = await ask(offered);
  if (!thought || gameOver(play)) return;
  if (offered && thought.draw_accepted) return end(agreedDraw());
  if (offered) play.offer = "declined";
  else play.offer = "none";
  await push(thought.move);
  if (offered) state.said += ". It declines the draw";
  void playPremove();
}

/** Think about the last position with the chosen agent and show it; the move is not played. */
export async function imagine(): Promise<void> {
  if (!mayImagine(play)) return;
  play.cursor = null;
  await ask(false);
  void answer(); // the player may have moved meanwhile
}

async function ask(offered: boolean) {
  const { signal } = work;
  const ply = play.game.moves.length;
  Object.assign(play, { thinking: true, stalled: false });
  changed();
  const { agent, level } = play.opponent;
  let thought: Awaited<ReturnType<typeof api.think>> | null = null;
  const well = await attempt(async () => {
    try {
      thought = await api.think(play.game, agent, level, { signal, ...(offered ? { draw_offered: true } : {}) });
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
    }
  });
  if (signal.aborted) return null;
  if (thought) play.thoughts[ply] = thought;
  Object.assign(play, { thinking: false, stalled: !well && !humanToMove(play), showing: atEnd() });
  changed();
  return thought as Awaited<ReturnType<typeof api.think>> | null;
}
