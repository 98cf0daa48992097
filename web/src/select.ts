// What follows from the state: pure functions that read it and change nothing.

import type { AgentCard, FilmFrame, Level, Score, RootCandidate, Side, Thought } from "./api";
import type { PlayState, Showing, State } from "./state";

export const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

export const otherSide = (side: Side): Side => (side === "white" ? "black" : "white");

export const sideName = (side: Side): string => (side === "white" ? "White" : "Black");

/** Half-moves on the board right now. */
export const shownPly = (play: PlayState): number => play.cursor ?? play.game.moves.length;

export function shownFen(play: PlayState): string {
  if (!play.position) return play.game.fen ?? START;
  const ply = shownPly(play);
  return ply === 0 ? play.position.start : (play.position.history[ply - 1]?.fen ?? play.position.fen);
}

/** Who is to move after so many half-moves. */
export function turnAt(play: PlayState, ply: number): Side {
  const first: Side = (play.position?.start ?? play.game.fen ?? START).split(" ")[1] === "b" ? "black" : "white";
  return ply % 2 ? otherSide(first) : first;
}

/** The thought that belongs to the board: one from this very position, else the one behind the last move. */
export function shownThought(play: PlayState): { thought: Thought; ahead: boolean } | null {
  const ply = shownPly(play);
  const here = play.thoughts[ply];
  if (here) return { thought: here, ahead: false };
  const before = play.thoughts[ply - 1];
  return before ? { thought: before, ahead: before.move === play.game.moves[ply - 1] } : null;
}

/** Whether the thought on show says what the player is expected to do now: hidden until the player has moved. */
export function expectationHidden(play: PlayState, setting: boolean): boolean {
  const ply = shownPly(play);
  const open = play.cursor === null && !gameOver(play) && play.human !== "both" && humanToMove(play);
  return open && !setting && play.revealed !== ply && !!shownThought(play)?.ahead;
}

/** The frame on show; null where the thought has no film or stands at its end. */
export function shownFrame(thought: Thought, showing: Showing): FilmFrame | null {
  if (showing.frame === null) return null;
  return thought.film[Math.min(showing.frame, thought.film.length - 1)] ?? null;
}

/** The searched move whose line is on show; null where nothing was searched or the chosen move is shown. */
export const shownCandidate = (thought: Thought, showing: Showing): RootCandidate | null =>
  thought.look_ahead?.candidates.find((each) => each.uci === showing.candidate) ?? null;

/** What the agent expected after each of its moves, and what was really played. */
export function expectations(play: PlayState): { ply: number; expected: string; played: string; hit: boolean }[] {
  const out = [];
  for (const [key, thought] of Object.entries(play.thoughts)) {
    const ply = Number(key);
    const expected = thought.line[1]?.uci;
    const played = play.game.moves[ply + 1];
    if (thought.move !== play.game.moves[ply] || !expected || !played) continue;
    out.push({ ply: ply + 1, expected: thought.line[1]?.san ?? expected, played, hit: played === expected });
  }
  return out.sort((a, b) => a.ply - b.ply);
}

export const humanToMove = (play: PlayState): boolean =>
  !!play.position && (play.human === "both" || play.position.turn === play.human);

/** How the game ended, by the rules or by the players; null while it goes on. */
export const resultOf = (play: PlayState): { score: Score; reason: string } | null =>
  play.position?.result ?? play.ended;

export const gameOver = (play: PlayState): boolean => resultOf(play) !== null;

/** Whether the agent can be asked what it would play here: position and agent are there, and no other game is on its way. */
export const mayImagine = (play: PlayState): boolean =>
  !!play.position && !!play.opponent.agent && !gameOver(play) && !play.loading && !play.thinking;

const certain = (score: Score): number => (score === "1-0" ? 1 : score === "0-1" ? 0 : 0.5);

/** White's chance to win at the board on show, in [0, 1]: from the review, else from the nearest thought before. */
export function whiteChance(play: PlayState): number | null {
  const ply = shownPly(play);
  const result = ply === play.game.moves.length ? play.position?.result : null;
  if (result) return certain(result.score);
  const reviewed = ply ? play.review?.moves[ply - 1]?.white_value : play.review?.start;
  if (reviewed !== undefined && reviewed !== null) return reviewed;
  for (let at = ply; at >= 0; at -= 1) {
    const thought = play.thoughts[at];
    if (thought && thought.value !== null) return thought.turn === "white" ? thought.value : 1 - thought.value;
  }
  return null;
}

export const cardOf = (state: State, id: string): AgentCard | undefined =>
  state.agents.find((card) => card.id === id);

export const percent = (share: number): string => `${Math.round(100 * share)} %`;

export const FLOOR = 400; // below it agents play almost at random, and their rating is known only roughly

/** The strength in words: the measured rating where there is one, else the level's label. */
export const strengthOf = ({ rating, label }: Level): string =>
  !rating ? label : rating.elo < FLOOR ? `rating below ${FLOOR}` : `rating ${rating.elo}`;

/** The agents that can play here, or will once their network is loaded. */
export const ableAgents = (state: State): AgentCard[] => state.agents.filter((card) => card.state !== "problem");

/** The player's name on a side: from the pasted game, else "You" or the agent's. */
export function nameOf(state: State, side: Side): string {
  const { names, human, opponent } = state.play;
  if (names[side]) return names[side];
  return human === side || human === "both" ? "You" : (cardOf(state, opponent.agent)?.name ?? "Agent");
}

export const scoreWords = (score: Score): string =>
  score === "1-0" ? "White wins" : score === "0-1" ? "Black wins" : "Draw";
