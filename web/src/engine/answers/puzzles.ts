// Puzzles: cards without solutions, verdicts on moves, and an agent's attempt (play/puzzles.py, play/api.py).

import { Refused, type PuzzleAttempt, type PuzzleCard, type PuzzleVerdict } from "../../api-types";
import type { Agent } from "../agents/decision";
import { Board } from "../rules/board";
import { positionOf } from "../rules/fen";
import { thoughtOf } from "./thoughts";

/** As in puzzles.json: the solution alternates solver and opponent, in UCI, and ends with the solver. */
export interface Puzzle {
  fen: string;
  solution: string;
  rating: number;
}

const movesOf = ({ solution }: Puzzle): string[] => solution.split(" ");

export const puzzleCards = (all: Puzzle[]): PuzzleCard[] =>
  all.map((puzzle, id) => ({
    id,
    fen: puzzle.fen,
    turn: positionOf(puzzle.fen).turn,
    rating: puzzle.rating,
    length: (movesOf(puzzle).length + 1) / 2,
  }));

export function puzzleOf(all: Puzzle[], id: number): Puzzle {
  const puzzle = all[id];
  if (!puzzle) throw new Refused(`There is no puzzle ${id}; there are ${all.length}, counted from 0.`);
  return puzzle;
}

/** Whether the last of all moves since the start keeps to the solution; any checkmate does. */
function isRight(puzzle: Puzzle, moves: string[]): boolean {
  const solution = movesOf(puzzle);
  const before = moves.slice(0, -1);
  const off = before.some((uci, at) => uci !== solution[at]);
  if (off || before.length % 2 || before.length >= solution.length)
    throw new Refused("These moves do not lead into the puzzle; start it again.");
  const board = before.reduce((here, uci) => here.push(uci), positionOf(puzzle.fen));
  const last = moves.at(-1)!;
  if (!board.isLegal(last)) throw new Refused(`${last.slice(0, 8)} is not legal in ${board.fen}; play another move.`);
  return last === solution[before.length] || isMate(board.push(last));
}

const isMate = (board: Board): boolean => board.check && !board.legal.length;

export function verdict(puzzle: Puzzle, moves: string[]): PuzzleVerdict {
  const solution = movesOf(puzzle);
  const right = isRight(puzzle, moves);
  const same = moves.at(-1) === solution[moves.length - 1]; // else another mate: nothing left to answer
  const reply = right && same ? (solution[moves.length] ?? null) : null;
  const over = reply === null;
  return { right, solved: right && over, reply, solution: over ? solutionSan(puzzle) : null };
}

/** The solution as a player writes it. */
export function solutionSan(puzzle: Puzzle): string[] {
  let board = positionOf(puzzle.fen);
  return movesOf(puzzle).map((uci) => {
    const san = board.san(uci);
    board = board.push(uci);
    return san;
  });
}

/** An agent's attempt, up to its first mistake. */
export async function attemptOf(puzzle: Puzzle, name: string, agent: Agent): Promise<PuzzleAttempt> {
  const solution = movesOf(puzzle);
  let board = positionOf(puzzle.fen);
  let thought: PuzzleAttempt["thought"] | null = null;
  const played: string[] = [];
  const moves: string[] = [];
  for (let found = 0; ; found += 1) {
    const [decision] = await agent.decide([board]);
    thought ??= thoughtOf(name, board, decision!, false);
    played.push(board.san(decision!.move));
    moves.push(decision!.move);
    if (!isRight(puzzle, moves)) return { solved: false, found, moves: played, thought };
    board = board.push(decision!.move);
    if (isMate(board) || moves.length === solution.length)
      return { solved: true, found: found + 1, moves: played, thought };
    moves.push(solution[moves.length]!);
    board = board.push(moves.at(-1)!);
  }
}
