// The search: backups by hand, and trees with a network that knows the rules.

import { describe, expect, it } from "vitest";
import { Run } from "../src/engine/run";
import { BACKUPS } from "../src/engine/search/backup";
import { minimax } from "../src/engine/search/minimax";
import { grow, type Node } from "../src/engine/search/tree";
import { positionOf } from "../src/engine/rules/fen";
import { Mock, played } from "./mock";

const settings = { widths: [3, 2], valueWeight: 3, backup: "half-max" as const };

/** A node with the odds of its children, leaf by leaf. */
const tree = (odds: number, players: boolean, children: Node[] = []): Node => ({
  board: played(""),
  players,
  odds,
  over: false,
  evaluation: null,
  children: new Map(children.map((child, at) => [`move ${at}`, child])),
  predicted: new Map(),
});

describe("backup", () => {
  const replies = tree(0, false, [tree(2, true), tree(-1, true, [tree(3, false), tree(1, false)])]);
  it("half-max takes the minimum of the opponent and half of the player's maximum", () => {
    expect(BACKUPS["half-max"](tree(0.5, true), replies)).toBe(1); // min(2, (-1 + 3) / 2)
    expect(BACKUPS["half-max"](tree(0.5, true), null)).toBe(0.5);
  });
  it("line-mean takes the mean of the line that both choose", () => {
    expect(BACKUPS["line-mean"](tree(0.5, true), replies)).toBeCloseTo((0 - 1 + 3) / 3);
    expect(BACKUPS["line-mean"](tree(0.5, true), null)).toBe(0.5);
  });
});

describe("minimax", () => {
  it("asks the network once a level and counts what it asked", async () => {
    const mock = new Mock();
    const [plan] = await minimax(new Run(mock), [played("e2e4 e7e5")], null, settings);
    expect(mock.calls).toEqual({ evaluate: 3, predict: 2, denoise: 0, revise: 0 });
    expect(plan!.calls).toBe(5);
    expect(plan!.evaluations).toBe(1 + 2 * 3 + 2 * 6);
    expect(plan!.moves.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
    expect(plan!.plies(plan!.moves[0]!.move)).toHaveLength(2);
  });

  it("does not take a protected pawn with the queen", async () => {
    const board = positionOf("4k3/p1p5/3p4/8/8/3Q4/PP6/4K3 w - - 0 1");
    const [look] = await minimax(new Run(new Mock()), [board], null, { ...settings, widths: [] });
    expect(look!.moves[0]!.move).toBe("d3d6");
    const [plan] = await minimax(new Run(new Mock()), [board], null, settings);
    expect(plan!.moves[0]!.move).not.toBe("d3d6");
  });

  it("plays mate whatever the network says, and knows repetitions of the game at the root", async () => {
    const [plan] = await minimax(new Run(new Mock()), [positionOf("7k/8/6K1/8/8/8/8/R7 w - - 0 1")], [["a1a8", "a1a2"]], settings);
    expect(plan!.moves[0]!.move).toBe("a1a8");
    expect(plan!.moves[0]!.value).toBeGreaterThan(0.99);
    const again = played("g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1");
    const [root] = await grow(new Run(new Mock()), [again], [["f6g8"]], [1]);
    expect(root!.children.get("f6g8")).toMatchObject({ over: true, odds: 0 });
  });

  it("gives the same for boards alone and in a batch", async () => {
    const boards = [played("e2e4 e7e5"), played("d2d4"), played("g1f3 d7d5 c2c4")];
    const together = await minimax(new Run(new Mock()), boards, null, settings);
    for (const [at, board] of boards.entries()) {
      const [alone] = await minimax(new Run(new Mock()), [board], null, settings);
      expect(together[at]!.moves).toEqual(alone!.moves);
    }
  });
});
