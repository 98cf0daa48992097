// What the player can do in a game. The server is asked for every consequence; the game itself lives here.

import { api, type Game, type Side } from "./api";
import { linked, linkTo } from "./keep";
import { tap } from "./sound";
import { atEnd, cardOf, gameOver, humanToMove, shownPly, type Human, type Opponent, type PlayState } from "./state";
import { attempt, changed, state } from "./store";

const play = state.play;
let epoch = 0; // grows when the game is replaced or taken back, so that late answers are dropped

/** Put a game on the board: all of it is checked by the server before anything changes. */
export async function load(game: Game, settings: Partial<PlayState> = {}): Promise<boolean> {
  return attempt(async () => {
    const position = await api.position(game);
    epoch += 1;
    Object.assign(play, {
      game,
      position,
      pending: false,
      cursor: null,
      thoughts: {},
      thinking: false,
      stalled: false,
      resigned: null,
      names: { white: null, black: null },
      showing: atEnd(),
      ...settings,
    });
    state.mode = "play";
    void answer();
  });
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
  const { game, human, resigned, flipped, names } = play;
  if (!(await load(game, { human, resigned, flipped, names }))) {
    await load({ fen: null, moves: [] });
  }
  state.problem = refusal ?? state.problem;
  changed();
}

export function newGame(human: Human, opponent: Opponent): void {
  play.opponent = opponent;
  void load({ fen: null, moves: [] }, { human, flipped: human === "black" });
}

/** A move by the player, from the board or typed; the server's list says what is legal. */
export async function move(uci: string): Promise<void> {
  if (!play.position?.legal.some((legal) => legal.uci === uci) || gameOver(play)) return;
  play.pending = true;
  changed();
  await push(uci);
  void answer();
}

async function push(uci: string): Promise<void> {
  const now = epoch;
  const game = { fen: play.game.fen, moves: [...play.game.moves, uci] };
  await attempt(async () => {
    const position = await api.position(game);
    if (now !== epoch) return;
    Object.assign(play, { game, position, cursor: null, showing: atEnd() });
    const last = position.history.at(-1);
    if (state.sound) tap(position.result ? "end" : "move");
    state.said = `${last?.san ?? ""}${position.result ? `, game over: ${position.result.reason}` : ""}`;
  });
  play.pending = false;
  changed();
}

/** Let the agent move if it is its turn. */
export async function answer(): Promise<void> {
  if (!play.position || humanToMove(play) || gameOver(play) || play.thinking || !play.opponent.agent) return;
  const thought = await ask();
  if (thought) await push(thought);
}

/** Think about the last position with the chosen agent and show it; the move is not played. */
export async function imagine(): Promise<void> {
  if (!play.position || gameOver(play) || play.thinking) return;
  play.cursor = null;
  await ask();
  void answer(); // the player may have moved meanwhile
}

async function ask(): Promise<string | null> {
  const now = epoch;
  const ply = play.game.moves.length;
  let move: string | null = null;
  play.thinking = true;
  play.stalled = false;
  changed();
  const well = await attempt(async () => {
    const thought = await api.think(play.game, play.opponent.agent, play.opponent.level);
    if (now !== epoch) return;
    play.thoughts[ply] = thought;
    play.showing = atEnd();
    move = thought.move;
  });
  if (now !== epoch) return null;
  play.thinking = false;
  play.stalled = !well && !humanToMove(play);
  changed();
  return move;
}

/** Back to the player's own last turn (or by one half-move when both sides are the player's). */
export function takeBack(): void {
  const turns = play.human === "both" || !humanToMove(play) ? 1 : 2;
  const left = Math.max(0, play.game.moves.length - turns);
  if (left === play.game.moves.length) return;
  const thoughts = Object.fromEntries(Object.entries(play.thoughts).filter(([ply]) => Number(ply) < left));
  const { human, flipped, names } = play;
  void load({ fen: play.game.fen, moves: play.game.moves.slice(0, left) }, { human, flipped, names, thoughts });
}

export function resign(): void {
  if (!play.position || gameOver(play)) return;
  epoch += 1;
  play.thinking = false;
  play.resigned = play.human === "both" ? play.position.turn : play.human;
  state.said = `${play.resigned} resigns`;
  if (state.sound) tap("end");
  changed();
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
  play.showing = atEnd();
  state.said = target ? (play.position?.history[target - 1]?.san ?? "") : "start";
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

export function nameOf(side: Side): string {
  if (play.names[side]) return play.names[side];
  return play.human === side || play.human === "both" ? "You" : (cardOf(state, play.opponent.agent)?.name ?? "Agent");
}

export async function download(): Promise<void> {
  await attempt(async () => {
    const { pgn } = await api.pgn(play.game, nameOf("white"), nameOf("black"), play.resigned);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([pgn], { type: "application/x-chess-pgn" }));
    link.download = "diffusearch.pgn";
    link.click();
    URL.revokeObjectURL(link.href);
  });
}

export function share(): void {
  state.dialog = { kind: "share", link: linkTo(shownGame()), copied: false };
  changed();
}
