// The server's words (see /api/openapi.json) and how it is asked. Squares are names, moves are UCI.

export type Side = "white" | "black";
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
  result: { score: string; reason: string } | null;
}

export interface AgentCard {
  id: string;
  name: string;
  about: string;
  levels: string[];
  default: number;
  problem: string | null;
}

export interface LinePly {
  uci: string | null;
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
}

export interface Thought {
  agent: string;
  root: string;
  turn: Side;
  move: string;
  san: string;
  candidates: { uci: string; san: string; probability: number }[];
  line: LinePly[];
  film: FilmFrame[];
  value: number | null; // win probability of the side that moves
  legal_mass: number | null;
  nodes: number;
  seconds: number;
  imagined: boolean;
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

/** What the server refused, in its own sentence. */
export class Refused extends Error {}

async function ask<T>(path: string, body?: unknown): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(
      `./api/${path}`,
      body === undefined
        ? {}
        : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
    );
  } catch {
    throw new Refused("The server does not answer; is it still running? Your game is kept here.");
  }
  const json: unknown = await answer.json().catch(() => null);
  if (answer.ok) return json as T;
  throw new Refused((json as { detail?: string } | null)?.detail ?? `The server answered ${answer.status}.`);
}

export const api = {
  agents: () => ask<AgentCard[]>("agents"),
  position: (game: Game) => ask<Position>("position", game),
  think: (game: Game, agent: string, level: number) => ask<Thought>("think", { ...game, agent, level }),
  paste: (text: string) => ask<PastedGame>("paste", { text }),
  pgn: (game: Game, white: string, black: string, resigned: Side | null) =>
    ask<{ pgn: string }>("pgn", { ...game, white, black, resigned }),
  puzzles: () => ask<PuzzleCard[]>("puzzles"),
  tryPuzzle: (id: number, moves: string[]) => ask<PuzzleVerdict>(`puzzles/${id}/try`, { moves }),
  solution: (id: number) => ask<{ solution: string[] }>(`puzzles/${id}/solution`),
  agentPuzzle: (id: number, agent: string, level: number) =>
    ask<PuzzleAttempt>(`puzzles/${id}/agent`, { agent, level }),
};
