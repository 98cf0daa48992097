// Denoising: schedules, records and films.

import { describe, expect, it } from "vitest";
import { denoise, schedule, type Decoding } from "../src/engine/diffusion/denoise";
import { lineOf } from "../src/engine/diffusion/reading";
import { targets } from "../src/engine/tokens/layout";
import { Mock, played } from "./mock";

const plies: Decoding = { order: "plies", steps: 20, timesteps: 20, carry: "predict", drafts: 0, depth: 3, rounds: 3 };
const easy: Decoding = { ...plies, order: "confidence" };

describe("the schedule", () => {
  it("fixes a move or a state a call ply by ply", () => {
    expect(schedule(4, plies)).toEqual([1, 69, 70, 138, 139, 207, 208]);
    expect(schedule(4, { ...plies, steps: 4 })).toEqual([1, 70, 139, 208]);
    expect(schedule(1, { ...plies, steps: 1 })).toEqual([1]);
  });
  it("fixes equal parts easy first", () => {
    const found = schedule(4, easy);
    expect(found).toHaveLength(20);
    expect(found.slice(0, 2)).toEqual([11, 21]);
    expect(found.at(-1)).toBe(targets(4));
    expect(schedule(4, { ...easy, steps: 8 }).map((each) => 208 - each)).toEqual([187, 156, 124, 104, 83, 52, 20, 0]);
  });
});

describe("denoising", () => {
  it.each(["e2e4", "e2e4 e7e5"])("ply by ply follows the moves, for both colours (after %s)", async (moves) => {
    const root = played(moves);
    const mock = new Mock();
    const sample = await denoise(mock, root, 4, plies, root.legal);
    const line = lineOf(sample.record, 4, root);
    expect(mock.calls.denoise).toBe(7);
    expect(line).toHaveLength(4);
    expect(line.slice(0, 3).every((ply) => ply.legal && ply.follows && !ply.wrong.length)).toBe(true);
    expect(line[3]).toMatchObject({ legal: true, board: null, squares: null });
  });

  it("records every step: the first frame is masked, the last shows the line", async () => {
    const root = played("e2e4");
    const { film, record } = await denoise(new Mock(), root, 4, plies, root.legal);
    expect(film.map(({ step }) => step)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(film[0]).toMatchObject({ moves: [null, null, null, null], squares: Array(3).fill("?".repeat(64)) });
    expect(film[1]!.moves[0]).toBe(lineOf(record, 4, root)[0]!.move);
    expect(film[1]!.squares[0]).toBe("?".repeat(64));
    expect(film[7]!.squares).toEqual(lineOf(record, 4, root).slice(0, 3).map(({ squares }) => squares));
    expect(film[7]!.probabilities.size).toBeGreaterThan(0);
  });

  it("plays only allowed moves", async () => {
    const root = played("");
    for (const decoding of [plies, easy, { ...easy, carry: "keep" as const }]) {
      const { record, shares } = await denoise(new Mock(), root, 2, decoding, ["a2a3"]);
      expect(lineOf(record, 2, root)[0]!.move).toBe("a2a3");
      expect(Math.max(...shares)).toBe(1);
    }
  });

  it("looks once at horizon 1", async () => {
    const mock = new Mock();
    const { film, steps } = await denoise(mock, played(""), 1, { ...plies, steps: 1 }, played("").legal);
    expect([steps, film.length, mock.calls.denoise]).toEqual([1, 2, 1]);
  });
});
