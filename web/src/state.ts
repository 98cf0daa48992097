// One plain object holds everything the page shows; `render` in main.ts draws it. No chess rules in here.

import type { AgentCard, Ended, Game, Position, PuzzleAttempt, PuzzleCard } from "./api";
import type { ReviewedMove, Score, Side, Thought } from "./api";
import { defaultSettings, type Settings } from "./settings";

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
  candidate: string | null; // the searched move whose line is shown; null: the move that was chosen
}

/** An end that the players made; the rules' own result is in the position. */
export interface Ending {
  score: Score;
  reason: string;
  how: Ended;
}

export interface Clock {
  minutes: number;
  increment: number; // seconds for each move
  left: Record<Side, number>; // milliseconds
  since: number | null; // when the running side's clock was started (Date.now); null: both stand
}

/** What an agent says of every move of the game, as far as it has come. */
export interface Review {
  opponent: Opponent;
  start: number | null; // White's win probability before the first move
  moves: ReviewedMove[];
  running: boolean;
}

export interface PlayState {
  game: Game;
  human: Human;
  names: { white: string | null; black: string | null }; // of a pasted game
  opponent: Opponent;
  position: Position | null; // the server's word on the whole game
  loading: boolean; // another game was asked for and is not there yet
  pending: boolean; // a move was made on the board and the server has not answered yet
  cursor: number | null; // half-moves shown; null: all
  thoughts: Record<number, Thought>; // by the number of half-moves before the thought
  thinking: boolean;
  stalled: boolean; // the agent should move but its answer failed
  ended: Ending | null;
  flipped: boolean;
  showing: Showing;
  premove: { from: string; to: string } | null;
  drawn: { from: string; to: string }[]; // the player's own arrows; a circle where both squares are one
  revealed: number | null; // the half-move at which the player asked to see what is expected
  offer: "none" | "made" | "declined"; // a draw offer goes with the player's next move
  clock: Clock | null;
  review: Review | null;
  closed: boolean; // the banner at the end was closed
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

export interface TimeControl {
  minutes: number; // 0: no clock
  increment: number;
}

export type Dialog =
  | { kind: "new"; human: Human | "random"; opponent: Opponent; time: TimeControl }
  | { kind: "paste"; text: string; human: Human; problem: string | null }
  | { kind: "share"; link: string; fen: string; copied: "link" | "fen" | null }
  | { kind: "settings" }
  | { kind: "resign" }
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
  settings: Settings;
  time: TimeControl; // of the last new game
}

/** Where everybody begins in the puzzles, player and agents. */
export const START_RATING = 900;

export const atEnd = (): Showing => ({ frame: null, running: false, candidate: null });

/** What is forgotten when another game comes on the board. */
export const freshGame = () => ({
  loading: false,
  pending: false,
  cursor: null,
  thoughts: {},
  thinking: false,
  stalled: false,
  ended: null,
  names: { white: null, black: null },
  showing: atEnd(),
  premove: null,
  drawn: [],
  revealed: null,
  offer: "none" as const,
  clock: null,
  review: null,
  closed: false,
});

export function initialState(): State {
  const opponent = { agent: "", level: 0 };
  const compared = (): ComparedAgent => ({ opponent, thought: null, thinking: false, showing: atEnd() });
  return {
    mode: "play",
    agents: [],
    play: { ...freshGame(), game: { fen: null, moves: [] }, human: "white", opponent, position: null, flipped: false },
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
    settings: defaultSettings(),
    time: { minutes: 0, increment: 0 },
  };
}
