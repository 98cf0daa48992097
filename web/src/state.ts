// One plain object holds everything the page shows; `render` in main.ts draws it. No chess rules in here.

import type { AgentCard, FilmFrame, Game, Position, PuzzleAttempt, PuzzleCard, Side, Thought } from "./api";

export type Mode = "play" | "compare" | "puzzles";
export type Human = Side | "both";

export interface Opponent {
  agent: string;
  level: number;
}

/** A thought on the screen: which step of its film is shown (null: the end) and whether it is running. */
export interface Showing {
  frame: number | null;
  running: boolean;
}

export interface PlayState {
  game: Game;
  human: Human;
  names: { white: string | null; black: string | null }; // of a pasted game
  opponent: Opponent;
  position: Position | null; // the server's word on the whole game
  pending: boolean; // a move was made on the board and the server has not answered yet
  cursor: number | null; // half-moves shown; null: all
  thoughts: Record<number, Thought>; // by the number of half-moves before the thought
  thinking: boolean;
  stalled: boolean; // the agent should move but its answer failed
  resigned: Side | null;
  flipped: boolean;
  showing: Showing;
}

export interface ComparedAgent {
  opponent: Opponent;
  thought: Thought | null;
  thinking: boolean;
  showing: Showing;
}

export interface PuzzleState {
  list: PuzzleCard[];
  current: PuzzleCard | null;
  moves: string[];
  position: Position | null;
  pending: boolean;
  outcome: "open" | "solved" | "failed";
  solution: string[] | null;
  opponent: Opponent;
  attempt: PuzzleAttempt | null;
  attempting: boolean;
  showing: Showing;
  rating: number;
  agentRatings: Record<string, number>;
  done: number[];
}

export type Dialog =
  | { kind: "new"; human: Human; opponent: Opponent }
  | { kind: "paste"; text: string; human: Human; problem: string | null }
  | { kind: "share"; link: string; copied: boolean }
  | { kind: "promotion"; side: Side; from: string; to: string; choose: (uci: string | null) => void };

export interface State {
  mode: Mode;
  agents: AgentCard[];
  play: PlayState;
  compare: { root: Game; position: Position | null; sides: [ComparedAgent, ComparedAgent] };
  puzzles: PuzzleState;
  dialog: Dialog | null;
  problem: string | null; // the last refusal, shown until the next action
  said: string; // for screen readers
  arrows: boolean;
  sound: boolean;
}

/** Where everybody begins in the puzzles, player and agents. */
export const START_RATING = 900;

export const atEnd = (): Showing => ({ frame: null, running: false });

export function initialState(): State {
  const opponent = { agent: "", level: 0 };
  const compared = (): ComparedAgent => ({ opponent, thought: null, thinking: false, showing: atEnd() });
  return {
    mode: "play",
    agents: [],
    play: {
      game: { fen: null, moves: [] },
      human: "white",
      names: { white: null, black: null },
      opponent,
      position: null,
      pending: false,
      cursor: null,
      thoughts: {},
      thinking: false,
      stalled: false,
      resigned: null,
      flipped: false,
      showing: atEnd(),
    },
    compare: { root: { fen: null, moves: [] }, position: null, sides: [compared(), compared()] },
    puzzles: {
      list: [],
      current: null,
      moves: [],
      position: null,
      pending: false,
      outcome: "open",
      solution: null,
      opponent,
      attempt: null,
      attempting: false,
      showing: atEnd(),
      rating: START_RATING,
      agentRatings: {},
      done: [],
    },
    dialog: null,
    problem: null,
    said: "",
    arrows: true,
    sound: false,
  };
}

/** Half-moves on the board right now. */
export const shownPly = (play: PlayState): number => play.cursor ?? play.game.moves.length;

export function shownFen(play: PlayState): string | null {
  if (!play.position) return null;
  const ply = shownPly(play);
  return ply === 0 ? play.position.start : (play.position.history[ply - 1]?.fen ?? play.position.fen);
}

/** The thought that belongs to the board: one from this very position, else the one behind the last move. */
export function shownThought(play: PlayState): { thought: Thought; ahead: boolean } | null {
  const ply = shownPly(play);
  const here = play.thoughts[ply];
  if (here) return { thought: here, ahead: false };
  const before = play.thoughts[ply - 1];
  return before ? { thought: before, ahead: before.move === play.game.moves[ply - 1] } : null;
}

/** The frame on show; null where the thought has no film. */
export function shownFrame(thought: Thought, showing: Showing): FilmFrame | null {
  const last = thought.film.length - 1;
  return thought.film[showing.frame === null ? last : Math.min(showing.frame, last)] ?? null;
}

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

export const gameOver = (play: PlayState): boolean => !!play.position?.result || play.resigned !== null;

export const cardOf = (state: State, id: string): AgentCard | undefined =>
  state.agents.find((card) => card.id === id);
