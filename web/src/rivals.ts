// Comparing two agents on one position, and solving puzzles against one.

import { api, type Game, type PuzzleCard } from "./api";
import { shownGame } from "./game";
import { tap } from "./sound";
import { atEnd, START_RATING, type ComparedAgent } from "./state";
import { attempt, changed, state } from "./store";

const { compare, puzzles } = state;
const STEP = 32; // rating points at stake in one puzzle (Elo's K)

/** Take over the position that is on the board of the game. */
export async function openCompare(): Promise<void> {
  const root = shownGame();
  if (JSON.stringify(root) === JSON.stringify(compare.root) && compare.position) return;
  await setRoot(root);
}

async function setRoot(root: Game): Promise<void> {
  await attempt(async () => {
    const position = await api.position(root);
    for (const side of compare.sides) Object.assign(side, { thought: null, showing: atEnd() });
    Object.assign(compare, { root, position });
  });
}

export async function compareBoth(): Promise<void> {
  await Promise.all(compare.sides.map(askSide));
}

async function askSide(side: ComparedAgent): Promise<void> {
  side.thinking = true;
  changed();
  const root = compare.root;
  const { agent, level } = side.opponent;
  await attempt(async () => {
    const thought = await api.think(root, agent, level);
    const asked = root === compare.root && agent === side.opponent.agent && level === side.opponent.level;
    if (asked) Object.assign(side, { thought, showing: atEnd() });
  });
  side.thinking = false;
  changed();
}

export async function openPuzzles(): Promise<void> {
  if (puzzles.list.length) return;
  await attempt(async () => void (puzzles.list = await api.puzzles()));
  if (puzzles.list.length) await nextPuzzle();
}

/** The puzzle nearest to the player's rating among those not yet seen; all of them again after the last. */
export async function nextPuzzle(): Promise<void> {
  let open = puzzles.list.filter((card) => !puzzles.done.includes(card.id));
  if (!open.length) {
    puzzles.done = [];
    open = puzzles.list;
  }
  const far = (rating: number): number => Math.abs(rating - puzzles.rating);
  const current = open.reduce((best, card) => (far(card.rating) < far(best.rating) ? card : best));
  Object.assign(puzzles, {
    current,
    position: null,
    moves: [],
    outcome: "open",
    solution: null,
    attempt: null,
    attempting: false,
    showing: atEnd(),
  });
  changed();
  await look();
}

async function look(): Promise<void> {
  const puzzle = puzzles.current;
  await attempt(async () => {
    const position = await api.position({ fen: puzzle?.fen ?? null, moves: puzzles.moves });
    if (puzzles.current === puzzle) puzzles.position = position;
  });
  if (puzzles.current === puzzle) puzzles.pending = false;
  changed();
}

/** Whether this puzzle still waits for its solution; while the server answers, another click may have ended it. */
const isOpen = (puzzle: PuzzleCard): boolean => puzzles.current === puzzle && puzzles.outcome === "open";

export async function tryMove(uci: string): Promise<void> {
  const puzzle = puzzles.current;
  if (!puzzle || !isOpen(puzzle)) return;
  puzzles.pending = true;
  await attempt(async () => {
    const verdict = await api.tryPuzzle(puzzle.id, [...puzzles.moves, uci]);
    if (!isOpen(puzzle)) return;
    puzzles.moves = [...puzzles.moves, uci, ...(verdict.reply ? [verdict.reply] : [])];
    puzzles.solution = verdict.solution;
    if (!verdict.right || verdict.solved) finish(puzzle, verdict.solved);
    state.said = verdict.solved ? "Solved" : verdict.right ? "Right, go on" : "Not the move";
    if (state.settings.sound) tap(verdict.right ? "move" : "end");
  });
  if (puzzles.current === puzzle) await look();
}

/** Give up: counts as not solved. */
export async function giveUp(): Promise<void> {
  const puzzle = puzzles.current;
  if (!puzzle || !isOpen(puzzle)) return;
  await attempt(async () => {
    const { solution } = await api.solution(puzzle.id);
    if (!isOpen(puzzle)) return;
    puzzles.solution = solution;
    finish(puzzle, false);
  });
}

function finish(puzzle: PuzzleCard, solved: boolean): void {
  puzzles.outcome = solved ? "solved" : "failed";
  puzzles.done.push(puzzle.id);
  puzzles.rating = moved(puzzles.rating, puzzle.rating, solved);
  void letAgentTry(puzzle);
}

/** Its result counts also when the player has gone on to the next puzzle; it is shown only beside its own. */
async function letAgentTry(puzzle: PuzzleCard): Promise<void> {
  const { agent, level } = puzzles.opponent;
  const name = ratingKey(); // of who is asked, whoever is chosen when the answer comes
  puzzles.attempting = true;
  changed();
  await attempt(async () => {
    const tried = await api.agentPuzzle(puzzle.id, agent, level);
    if (puzzles.current === puzzle && name === ratingKey()) puzzles.attempt = tried;
    puzzles.agentRatings[name] = moved(puzzles.agentRatings[name] ?? START_RATING, puzzle.rating, tried.solved);
  });
  if (puzzles.current === puzzle) puzzles.attempting = false;
  changed();
}

export const ratingKey = (): string => `${puzzles.opponent.agent}/${puzzles.opponent.level}`;

function moved(own: number, puzzle: number, solved: boolean): number {
  const expected = 1 / (1 + 10 ** ((puzzle - own) / 400));
  return Math.round(own + STEP * ((solved ? 1 : 0) - expected));
}
