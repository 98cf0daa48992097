// The review of a game on the page: which moves are its mistakes, and that it ends with its game.

import { beforeEach, describe, expect, it, vi } from "vitest";
import type * as Types from "../src/api-types";
import { Cancelled, type Api, type ReviewedMove } from "../src/api-types";
import { load } from "../src/game";
import { mistakes, startReview } from "../src/review";
import type { PlayState } from "../src/state";
import { state } from "../src/store";

const api = vi.hoisted(() => ({}) as Partial<Api>);
vi.mock("../src/api", async () => ({ ...(await vi.importActual<typeof Types>("../src/api-types")), api }));

vi.stubGlobal("window", globalThis); // the clock's timers

const { play } = state;
const judged = (ply: number, loss: number, best = "a2a3"): ReviewedMove =>
  ({ ply, side: ply % 2 ? "black" : "white", uci: "b2b3", loss, best: { uci: best, san: best } }) as ReviewedMove;

describe("the mistakes of a review", () => {
  const of = (moves: ReviewedMove[]): number[] =>
    mistakes({ review: { moves } } as PlayState).map(({ ply }) => ply);

  it("are the three largest of either side, in the order of the game", () => {
    const losses = [0.2, 0.1, 0.3, 0.2, 0.4, 0.3, 0.5, 0.4];
    expect(of(losses.map((loss, ply) => judged(ply, loss)))).toEqual([2, 3, 4, 5, 6, 7]);
  });

  it("cost a tenth of the win probability at least, and are not the agent's own moves", () => {
    expect(of([judged(0, 0.09), judged(1, 0.1), judged(2, 0.5, "b2b3")])).toEqual([1]);
  });
});

describe("a running review", () => {
  beforeEach(async () => {
    api.position = async ({ fen }) => ({ fen, turn: "white", legal: [], result: null }) as unknown as Types.Position;
    await load({ fen: null, moves: ["e2e4", "e7e5"] }, { human: "both" });
  });

  it("ends when another game is loaded, and says nothing of that game", async () => {
    const signals: AbortSignal[] = [];
    api.review = (_game, _agent, _level, _first, _count, signal) => {
      signals.push(signal);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Cancelled())));
    };
    state.said = "";
    const running = startReview();
    expect(signals.map((signal) => signal.aborted)).toEqual([false]);
    await load({ fen: null, moves: ["d2d4"] }, { human: "both" });
    expect(signals.map((signal) => signal.aborted)).toEqual([true]);
    await running;
    expect(signals).toHaveLength(1);
    expect(play.review).toBeNull();
    expect(state.said).toBe("");
  });

  it("goes on where another game was refused", async () => {
    let signal: AbortSignal | undefined;
    api.review = (...asked) => {
      signal = asked[5];
      return new Promise(() => undefined);
    };
    void startReview();
    api.position = async () => {
      throw new (await vi.importActual<typeof Types>("../src/api-types")).Refused("no such game");
    };
    expect(await load({ fen: "nonsense", moves: [] })).toBe(false);
    expect(signal?.aborted).toBe(false);
    expect(play.review?.running).toBe(true);
  });
});
