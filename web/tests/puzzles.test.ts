// Puzzles on the page: each counts once for the player and once for the agent, in whatever order the answers come.

import { beforeEach, describe, expect, it, vi } from "vitest";
import type * as Types from "../src/api-types";
import type { Api, PuzzleAttempt, PuzzleVerdict } from "../src/api-types";
import { giveUp, nextPuzzle, tryMove } from "../src/rivals";
import { START_RATING } from "../src/state";
import { state } from "../src/store";

const api = vi.hoisted(() => ({}) as Partial<Api>);
vi.mock("../src/api", async () => ({ ...(await vi.importActual<typeof Types>("../src/api-types")), api }));

const { puzzles } = state;
const card = (id: number) => ({ id, fen: `puzzle ${id}`, turn: "white" as const, rating: START_RATING, length: 2 });
const WRONG: PuzzleVerdict = { right: false, solved: false, reply: null, solution: ["e4"] };
const SOLVED = { solved: true, found: 2, moves: ["e4"] } as PuzzleAttempt;

/** An answer that comes when the test gives it. */
function later<T>() {
  let give: (answer: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => (give = resolve));
  return { promise, give };
}

beforeEach(async () => {
  Object.assign(puzzles, { list: [card(1), card(2), card(3)], rating: START_RATING, agentRatings: {}, done: [] });
  puzzles.opponent = { agent: "search", level: 5 };
  state.settings.sound = false;
  api.position = vi.fn(async ({ fen }) => ({ fen }) as Types.Position);
  api.agentPuzzle = vi.fn(() => new Promise<PuzzleAttempt>(() => undefined));
  api.solution = async () => ({ solution: ["e4"] });
  api.tryPuzzle = async () => WRONG;
  await nextPuzzle();
});

const counted = () => ({ rating: puzzles.rating, done: puzzles.done, asked: vi.mocked(api.agentPuzzle!).mock.calls.length });
const ONCE = { rating: START_RATING - 16, done: [1], asked: 1 };

describe("a puzzle", () => {
  it("counts once when it is given up twice", async () => {
    await Promise.all([giveUp(), giveUp()]);
    expect(counted()).toEqual(ONCE);
  });

  it("counts once when it is given up while a move is judged", async () => {
    const verdict = later<PuzzleVerdict>();
    api.tryPuzzle = () => verdict.promise;
    const trying = tryMove("e2e4");
    await giveUp();
    verdict.give({ right: true, solved: false, reply: "e7e5", solution: null });
    await trying;
    expect(counted()).toEqual(ONCE);
    expect(puzzles).toMatchObject({ outcome: "failed", solution: ["e4"], moves: [], pending: false });
  });

  it("is not touched by the verdict on a move in the one before", async () => {
    const verdict = later<PuzzleVerdict>();
    api.tryPuzzle = () => verdict.promise;
    const trying = tryMove("e2e4");
    await giveUp();
    await nextPuzzle();
    verdict.give(WRONG);
    await trying;
    expect(counted()).toEqual(ONCE);
    expect(puzzles).toMatchObject({ current: card(2), outcome: "open", solution: null, moves: [] });
  });

  it("is not touched by the solution of the one before", async () => {
    const solution = later<{ solution: string[] }>();
    api.solution = () => solution.promise;
    const givingUp = giveUp();
    await tryMove("e2e4");
    await nextPuzzle();
    solution.give({ solution: ["d4"] });
    await givingUp;
    expect(counted()).toEqual(ONCE);
    expect(puzzles).toMatchObject({ current: card(2), outcome: "open", solution: null, moves: [] });
  });

  it("keeps its own position when that of the one before comes late", async () => {
    const late = later<Types.Position>();
    api.position = vi.fn(() => late.promise);
    const trying = tryMove("e2e4");
    await vi.waitFor(() => expect(api.position).toHaveBeenCalled());
    api.position = async ({ fen }) => ({ fen }) as Types.Position;
    await nextPuzzle();
    late.give({ fen: "late" } as Types.Position);
    await trying;
    expect(puzzles.position?.fen).toBe("puzzle 2");
  });
});

describe("the agent's attempt", () => {
  it("counts also when the player has gone on, and is shown only beside its own puzzle", async () => {
    const [first, second] = [later<PuzzleAttempt>(), later<PuzzleAttempt>()];
    api.agentPuzzle = (id) => (id === 1 ? first : second).promise;
    await giveUp();
    await nextPuzzle();
    await giveUp();
    first.give(SOLVED);
    await vi.waitFor(() => expect(puzzles.agentRatings).toEqual({ "search/5": START_RATING + 16 }));
    expect(puzzles).toMatchObject({ attempt: null, attempting: true });
    second.give({ ...SOLVED, solved: false });
    await vi.waitFor(() => expect(puzzles.attempting).toBe(false));
    expect(puzzles.attempt).toMatchObject({ solved: false });
  });
});
