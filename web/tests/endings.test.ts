// The rules for won endings against what Python says of random ones (tools/browser_engine.py).

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { rootMoves } from "../src/engine/agents/root-moves";
import { positionOf } from "../src/engine/rules/fen";
import type { Run } from "../src/engine/run";

const { positions } = JSON.parse(readFileSync(new URL("endings.json", import.meta.url), "utf8")) as {
  positions: { fen: string; moves: string }[];
};
const ahead = { evaluate: async (boards: unknown[]) => boards.map(() => ({ value: 0.9 })) } as unknown as Run;

it.each(positions)("leaves the root moves of Python in $fen", async ({ fen, moves }) => {
  const [left] = await rootMoves(ahead, [positionOf(fen)]);
  expect([...left!].sort().join(" ")).toBe(moves);
});
