// The words of the API (see /api/openapi.json). Squares are names, moves are UCI, values are win probabilities.

export type Side = "white" | "black";
export type Score = "1-0" | "0-1" | "1/2-1/2";
export type Promotion = "q" | "r" | "b" | "n";

export interface Game {
  fen: string | null; // null: the usual start
  moves: string[];
}

export interface LegalMove {
  uci: string;
  source: string;
  target: string;
  promotion: Promotion | null;
  san: string;
}

export interface Position {
  start: string;
  fen: string;
  turn: Side;
  check: string | null;
  legal: LegalMove[];
  history: { uci: string; san: string; fen: string; check: string | null }[];
  result: { score: Score; reason: string } | null;
}

/** A measured strength with its 95 % interval. */
export interface Rating {
  elo: number;
  low: number;
  high: number;
}

export interface Level {
  label: string;
  rating: Rating | null;
}

export interface AgentCard {
  id: string;
  name: string;
  about: string;
  levels: Level[]; // weakest first
  default: number;
  state: "loading" | "ready" | "problem";
  problem: string | null;
}

export interface Candidate {
  uci: string;
  san: string;
  probability: number;
}

export interface Step {
  uci: string;
  san: string;
}

export interface LinePly {
  uci: string;
  san: string | null;
  legal: boolean;
  squares: string | null;
  wrong: string[];
  problem: string | null;
}

export interface FilmFrame {
  step: number;
  moves: (string | null)[];
  squares: string[];
  confidence: number[][]; // for each board 64 numbers from a8; empty if not recorded
  candidates: Candidate[]; // the move's distribution at this step; empty if not recorded
}

/** A root move that was looked into. Values are win probabilities of the mover after the move. */
export interface RootCandidate extends Step {
  prior: number; // the network's probability before it looked ahead
  value: number | null; // one look at the position after the move
  score: number | null; // what the search or the drafts made of it
  probability: number | null; // of the move after the drafts were read; null for a search
  line: Step[];
}

export interface Thought {
  agent: string;
  root: string;
  turn: Side;
  move: string;
  san: string;
  candidates: Candidate[];
  line: LinePly[];
  film: FilmFrame[];
  look_ahead: { by: "search" | "drafts"; candidates: RootCandidate[] } | null;
  value: number | null; // win probability of the side that moves
  legal_mass: number | null;
  steps: number | null; // calls of the network
  evaluations: number; // positions that the network evaluated, or an engine's nodes
  seconds: number;
  imagined: boolean;
  draw_accepted: boolean | null; // null: no draw was offered
}

export interface ReviewedMove extends Step {
  ply: number;
  side: Side;
  fen: string;
  white_value: number; // White's win probability after the move
  loss: number; // what the move cost the mover
  best: Step;
  line: Step[];
}

export interface ReviewSlice {
  agent: string;
  start_value: number; // White's win probability before the first move of the slice
  moves: ReviewedMove[];
}

export interface PastedGame {
  fen: string;
  moves: string[];
  white: string | null;
  black: string | null;
}

export interface PuzzleCard {
  id: number;
  fen: string;
  turn: Side;
  rating: number;
  length: number;
}

export interface PuzzleVerdict {
  right: boolean;
  solved: boolean;
  reply: string | null;
  solution: string[] | null;
}

export interface PuzzleAttempt {
  solved: boolean;
  found: number;
  moves: string[];
  thought: Thought;
}

/** How a game ended that the rules did not end. */
export interface Ended {
  resigned?: Side;
  flagged?: Side; // whose time ran out
  draw_agreed?: boolean;
}

/** What the server refused, in its own sentence. */
export class Refused extends Error {}

/** The page asked for something and does not want it any more. */
export class Cancelled extends Error {}

export interface ThinkWishes {
  draw_offered?: boolean;
  signal?: AbortSignal;
}

/** All that the page asks of whoever knows the rules and runs the agents. */
export interface Api {
  agents(): Promise<AgentCard[]>;
  position(game: Game): Promise<Position>;
  think(game: Game, agent: string, level: number, wishes?: ThinkWishes): Promise<Thought>;
  /** Values over the half-moves first .. first + count - 1. */
  review(game: Game, agent: string, level: number, first: number, count: number, signal: AbortSignal): Promise<ReviewSlice>;
  paste(text: string): Promise<PastedGame>;
  pgn(game: Game, white: string, black: string, ended: Ended): Promise<{ pgn: string }>;
  puzzles(): Promise<PuzzleCard[]>;
  tryPuzzle(id: number, moves: string[]): Promise<PuzzleVerdict>;
  solution(id: number): Promise<{ solution: string[] }>;
  agentPuzzle(id: number, agent: string, level: number): Promise<PuzzleAttempt>;
}
