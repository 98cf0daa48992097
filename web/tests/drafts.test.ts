// Drafts: what is drafted within a number of network calls, and what comes of it with a network that knows the rules.

import { describe, expect, it } from "vitest";
import { imagining } from "../src/engine/agents/imagining";
import { Drafter, type Draft } from "../src/engine/drafts/drafting";
import { effortOf, revise } from "../src/engine/drafts/revising";
import { Run } from "../src/engine/run";
import { positionOf } from "../src/engine/rules/fen";
import { SETTINGS } from "../src/engine/settings";
import { Mock, played } from "./mock";

const { decoding } = SETTINGS.imagining;
const whole = { drafts: 6, depth: 3, rounds: 3 };
const protectedPawn = positionOf("4k3/p1p5/3p4/8/8/3Q4/PP6/4K3 w - - 0 1");

describe("the effort", () => {
  it.each([
    [20, { drafts: 6, depth: 3, rounds: 3 }],
    [11, { drafts: 6, depth: 3, rounds: 1 }],
    [7, { drafts: 6, depth: 3, rounds: 0 }],
    [5, { drafts: 6, depth: 2, rounds: 0 }],
    [4, { drafts: 6, depth: 1, rounds: 0 }],
    [2, null],
    [1, null],
  ])("follows from %i steps", (steps, wanted) => {
    expect(effortOf({ ...decoding, ...whole, steps })).toEqual(wanted);
  });
  it("is none without drafts", () => {
    expect(effortOf({ ...decoding, drafts: 0 })).toBeNull();
  });
});

describe("a drafter", () => {
  it("asks the network twice a ply, and leaves out what does not exist", async () => {
    const [run, board] = [new Run(new Mock()), played("e2e4")];
    const drafter = new Drafter(run);
    const [drafts] = await drafter.firstLines([board], await run.evaluate([board]), 4, 3);
    expect([drafter.calls, drafts!.length]).toEqual([6, 4]);
    for (const draft of drafts!) {
      expect(draft.line()).toHaveLength(3);
      expect(draft.nodes.slice(3)).toEqual([null, null]);
      expect(draft.hasSecond).toBe(false);
    }
    await drafter.secondLines(drafts!.slice(0, 1), 3);
    expect(drafter.calls).toBe(10);
    const { nodes, hasSecond } = drafts![0]!;
    expect(hasSecond).toBe(true);
    expect(nodes[3]!.logShare).toBeLessThanOrEqual(nodes[1]!.logShare);
    expect(nodes[3]!.move).not.toBe(nodes[1]!.move);
  });

  it("knows mate and stalemate by the rules, and goes on behind neither", async () => {
    const board = positionOf("7k/8/6K1/8/8/8/8/R4Q2 w - - 0 1");
    const run = new Run(new Mock());
    const roots = await run.evaluate([board], [["a1a8", "f1f7"]]);
    const [drafts] = await new Drafter(run).firstLines([board], roots, 6, 3);
    const [mate, stalemate] = ["a1a8", "f1f7"].map((move) => drafts!.find((draft) => draft.move === move)!);
    expect(mate!.nodes[0]).toMatchObject({ over: true, evaluation: null });
    expect(mate!.nodes[0]!.odds).toBeGreaterThan(6);
    expect(stalemate!.nodes[0]).toMatchObject({ over: true, evaluation: null });
    expect(stalemate!.nodes[0]!.odds).toBeCloseTo(0);
    for (const { nodes, hasSecond } of drafts!) expect([nodes.slice(1), hasSecond]).toEqual([[null, null, null, null], true]);
  });
});

describe("the end of the game after the first move", () => {
  const history = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1";
  it.each([
    ["third repetition", played(history), "f6g8"],
    ["fifty moves", positionOf("4k3/p7/8/8/8/8/8/R3K3 w - - 99 90"), "a1a2"],
    ["insufficient material", positionOf("4k3/8/8/8/8/8/3p4/4K3 w - - 0 1"), "e1d2"],
  ])("is seen by the rules: %s", async (_, board, move) => {
    const run = new Run(new Mock());
    const drafter = new Drafter(run);
    const [[draft]] = (await drafter.firstLines([board], await run.evaluate([board], [[move]]), 6, 3)) as [[Draft]];
    expect(draft.nodes).toMatchObject([{ over: true, evaluation: null, board: { fen: board.push(move).fen } }, null, null, null, null]);
    expect(draft.nodes[0]!.odds).toBeCloseTo(0);
    expect([draft.hasSecond, drafter.calls]).toEqual([true, 1]);
  });

  it("holds whatever is predicted", async () => {
    const mock = new Mock();
    const blind = new Run(mock);
    blind.predict = async (_boards, _evaluations, moves) =>
      moves.map(() => ({ board: null, problem: "White has no king", squares: ".".repeat(64), logProbability: 0 }));
    const board = positionOf("6k1/5ppp/8/8/8/8/8/R5K1 w - - 99 90");
    const [found] = await revise(blind, [board], [["a1a8", "a1a7"]], whole);
    expect(found!.move).toBe("a1a8");
    expect(found!.drafts.find(({ move }) => move === "a1a8")!.value).toBeGreaterThan(0.99);
    expect(found!.line).toMatchObject([{ move: "a1a8", problem: "White has no king" }]);
  });
});

describe("revising", () => {
  it("does not take a protected pawn with the queen, as one look does", async () => {
    const look = await imagining(new Run(new Mock()), SETTINGS.imagining, 100, 1).decide([protectedPawn]);
    expect(look[0]).toMatchObject({ move: "d3d6", evaluations: 1, lookAhead: null });
    const mock = new Mock();
    const [found] = await revise(new Run(mock), [protectedPawn], [protectedPawn.legal], whole);
    expect(found!.move).not.toBe("d3d6");
    expect(found!.drafts[0]!.move).toBe("d3d6");
    expect([...found!.shares.values()].reduce((total, share) => total + share)).toBeCloseTo(1);
    expect(found!.steps).toBe(mock.calls.evaluate + mock.calls.predict);
    expect(mock.calls.revise).toBe(1 + (found!.steps - 7) / 4); // at the first lines, and after each round
  });

  it("gives the same for boards alone and in a batch", async () => {
    const boards = [played("e2e4 e7e5"), protectedPawn, played("g1f3 d7d5 c2c4")];
    const legal = boards.map((board) => board.legal);
    const together = await revise(new Run(new Mock()), boards, legal, whole);
    for (const [at, board] of boards.entries()) {
      const [alone] = await revise(new Run(new Mock()), [board], [board.legal], whole);
      expect(together[at]!.shares).toEqual(alone!.shares);
      expect(together[at]!.drafts).toEqual(alone!.drafts);
    }
  });

  it("plays only allowed moves", async () => {
    const [found] = await revise(new Run(new Mock()), [protectedPawn], [["d3d6"]], whole);
    expect([found!.move, found!.shares.size, found!.drafts.length]).toEqual(["d3d6", 1, 1]);
    expect(found!.line.map(({ move }) => move).slice(0, 2)).toEqual(["d3d6", "c7d6"]);
  });
});
