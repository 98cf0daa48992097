// What outlives a reload: the game, the settings and the ratings (local storage), and positions in links (the hash).

import type { Game } from "./api";
import { settingsFrom } from "./settings";
import type { Clock, Ending, State, TimeControl } from "./state";

const KEY = "diffusearch";

let written = "";

export function save(state: State): void {
  const { play, puzzles } = state;
  const kept = JSON.stringify({
    game: play.game,
    human: play.human,
    names: play.names,
    opponent: play.opponent,
    ended: play.ended,
    flipped: play.flipped,
    clock: play.clock,
    time: state.time,
    settings: state.settings,
    rating: puzzles.rating,
    agentRatings: puzzles.agentRatings,
    done: puzzles.done,
  });
  if (kept === written) return;
  written = kept;
  try {
    localStorage.setItem(KEY, kept);
  } catch {
    // Private windows may forbid storage: the page works without it.
  }
}

export function restore(state: State): void {
  let kept: Record<string, unknown>;
  try {
    kept = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Record<string, unknown>;
  } catch {
    return;
  }
  const has = (key: string, kind: string) => typeof kept[key] === kind && kept[key] !== null;
  for (const key of ["human", "opponent", "names", "flipped"] as const) {
    if (has(key, typeof state.play[key])) Object.assign(state.play, { [key]: kept[key] });
  }
  if (isGame(kept.game)) state.play.game = kept.game;
  if (isEnding(kept.ended)) state.play.ended = kept.ended;
  if (isClock(kept.clock)) state.play.clock = kept.clock;
  if (isTime(kept.time)) state.time = kept.time;
  state.settings = settingsFrom(kept.settings);
  if (has("rating", "number")) state.puzzles.rating = kept.rating as number;
  if (has("agentRatings", "object")) state.puzzles.agentRatings = kept.agentRatings as Record<string, number>;
  if (Array.isArray(kept.done)) state.puzzles.done = kept.done.filter((id): id is number => typeof id === "number");
}

function isEnding(value: unknown): value is Ending {
  const ending = value as Ending | null;
  return !!ending && typeof ending.reason === "string" && typeof ending.score === "string" && !!ending.how;
}

function isClock(value: unknown): value is Clock {
  const clock = value as Clock | null;
  return !!clock && typeof clock.left?.white === "number" && typeof clock.left.black === "number";
}

function isTime(value: unknown): value is TimeControl {
  const time = value as TimeControl | null;
  return !!time && typeof time.minutes === "number" && typeof time.increment === "number";
}

function isGame(value: unknown): value is Game {
  const game = value as Game | null;
  return !!game && Array.isArray(game.moves) && (game.fen === null || typeof game.fen === "string");
}

export function linkTo(game: Game): string {
  const words = new URLSearchParams();
  if (game.fen) words.set("fen", game.fen);
  if (game.moves.length) words.set("moves", game.moves.join(","));
  return `${location.origin}${location.pathname}#${words.toString()}`;
}

/** The game in the address, or null if it holds none. The server checks it like any other. */
export function linked(): Game | null {
  const words = new URLSearchParams(location.hash.slice(1));
  if (!words.has("fen") && !words.has("moves")) return null;
  return { fen: words.get("fen"), moves: (words.get("moves") ?? "").split(",").filter(Boolean) };
}
