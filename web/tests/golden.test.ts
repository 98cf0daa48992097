// The engine against golden vectors that Python wrote (tools/browser_engine.py). GOLDEN=all compares all 500
// searches and drafts.

import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { imagining, type ImaginingSettings } from "../src/engine/agents/imagining";
import { searching } from "../src/engine/agents/searching";
import type { Decision } from "../src/engine/agents/decision";
import { denoise, type Decoding } from "../src/engine/diffusion/denoise";
import { lineOf } from "../src/engine/diffusion/reading";
import { openGraphs } from "../src/engine/network/graphs";
import { Board } from "../src/engine/rules/board";
import { Run } from "../src/engine/run";
import type { SearchSettings } from "../src/engine/search/minimax";
import { boardRow } from "../src/engine/tokens/states";

interface Record {
  moves: (string | null)[];
  squares: (string | null)[];
  fixed: number[];
  steps: number;
  mass: number;
}

interface Vector {
  game: number;
  ply: number;
  fen: string;
  row: string;
  legal: number;
  san: string;
  look: [string, number];
  search: [string, number, number];
  line: string;
  drafts: [string, number, number, number]; // move, value, network calls, evaluations
  tried: [string, string | null];
  records?: { plies: Record; confidence: Record };
}

const here = (path: string): URL => new URL(path, import.meta.url);
const golden = JSON.parse(gunzipSync(readFileSync(here("golden.json.gz"))).toString()) as {
  search: SearchSettings;
  imagining: ImaginingSettings;
  games: string[];
  positions: Vector[];
};
const { positions } = golden;
const SEARCHED = process.env["GOLDEN"] === "all" ? 1 : 17; // every so many positions are searched and drafted
const HORIZON = 4;
const RUN = "../../src/diffusearch/weights/diffusearch/";

/** The board of a vector with its history. */
function boardOf({ game, ply }: Vector): Board {
  let board = Board.initial();
  for (const uci of golden.games[game]!.split(" ").slice(0, ply)) board = board.push(uci);
  return board;
}

const hex = (row: Uint8Array): string => Buffer.from(row).toString("hex");
const share = (right: boolean[]): number => right.filter(Boolean).length / right.length;
const near = (a: number, b: number): boolean => Math.abs(a - b) < 0.005;

describe("rules and tokens", () => {
  it("are those of Python in all positions", () => {
    expect(positions).toHaveLength(500);
    for (const vector of positions) {
      const board = boardOf(vector);
      expect(board.fen).toBe(vector.fen);
      expect(board.legal).toHaveLength(vector.legal);
      expect(board.san(vector.tried[0])).toBe(vector.san);
      expect(hex(boardRow(board, board.turn))).toBe(vector.row);
    }
  });
});

describe.skipIf(!existsSync(here(`${RUN}evaluate.onnx`)))("the network in WASM", () => {
  let run: Run;
  beforeAll(async () => {
    const bytes = (path: string): Uint8Array => new Uint8Array(readFileSync(here(path)));
    const graph = (name: string): Uint8Array => bytes(`${RUN}${name}.onnx`);
    const graphs = { evaluate: graph("evaluate"), predict: graph("predict"), denoise: graph("denoise"), revise: graph("revise") };
    const files = { ...graphs, weights: bytes(`${RUN}weights.safetensors`) };
    const wasm = bytes("../node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm");
    const network = await openGraphs(files, wasm);
    const nextTask = (): Promise<void> => new Promise((wake) => setImmediate(wake)); // for the test runner's messages
    run = new Run({
      evaluate: async (...of) => (await nextTask(), network.evaluate(...of)),
      predict: async (...of) => (await nextTask(), network.predict(...of)),
      denoise: async (...of) => (await nextTask(), network.denoise(...of)),
      revise: async (...of) => (await nextTask(), network.revise(...of)),
    });
  });

  it("plays the move of one look in 99 % and gives the same values", async () => {
    const decisions = await searching(run, golden.search, 100, 1).decide(positions.map(boardOf));
    const right = decisions.map(({ move }, at) => move === positions[at]!.look[0]);
    expect(share(right)).toBeGreaterThanOrEqual(0.99);
    decisions.forEach(({ value }, at) => expect(near(value!, positions[at]!.look[1])).toBe(true));
  });

  it("predicts the states behind moves", async () => {
    const boards = positions.map(boardOf);
    const states = await run.predict(boards, await run.evaluate(boards), positions.map(({ tried }) => tried[0]));
    const right = states.map(({ board }, at) => {
      const wanted = positions[at]!.tried[1];
      return wanted === null ? board === null : board !== null && hex(boardRow(board, boards[at]!.turn)) === wanted;
    });
    expect(share(right)).toBeGreaterThanOrEqual(0.99);
  });

  it("searches to the same move in 99 %, with as many evaluations and the same values", async () => {
    const some = positions.filter((_, at) => at % SEARCHED === 0);
    const agent = searching(run, golden.search, 100, null);
    const found = [];
    for (let at = 0; at < some.length; at += 4) found.push(...(await agent.decide(some.slice(at, at + 4).map(boardOf))));
    const same = found.map(({ move }, at) => move === some[at]!.search[0]);
    const whole = found.map(
      ({ value, evaluations, line }, at) =>
        near(value!, some[at]!.search[1]) && evaluations === some[at]!.search[2] && line.join(" ") === some[at]!.line,
    );
    console.log(`search: same move in ${same.filter(Boolean).length} of ${same.length}, same tree in ${whole.filter(Boolean).length}`);
    expect(share(same)).toBeGreaterThanOrEqual(0.99);
    expect(share(whole)).toBeGreaterThanOrEqual(0.95);
  });

  it("plays the same move after drafts in 99 %, with as many calls and evaluations and the same values", async () => {
    const some = positions.filter((_, at) => at % SEARCHED === 0);
    const agent = imagining(run, golden.imagining, 100, null);
    const same: boolean[] = [];
    const whole: boolean[] = [];
    for (const vector of some) {
      const [{ move, value, evaluations, imagination }] = (await agent.decide([boardOf(vector)])) as [Decision];
      const [wanted, win, calls, count] = vector.drafts;
      same.push(move === wanted);
      whole.push(near(value!, win) && imagination!.steps === calls && evaluations === count);
    }
    console.log(`drafts: same move in ${same.filter(Boolean).length} of ${same.length}, same drafts in ${whole.filter(Boolean).length}`);
    expect(share(same)).toBeGreaterThanOrEqual(0.99);
    expect(share(whole)).toBeGreaterThanOrEqual(0.95);
  });

  it.each(["plies", "confidence"] as const)("denoises the same records in the order of %s", async (order) => {
    const decoding: Decoding = { ...golden.imagining.decoding, order, drafts: 0 };
    const right: boolean[] = [];
    const recorded = positions.filter(({ records }) => records);
    for (const vector of order === "plies" ? recorded : recorded.filter((_, at) => at % 4 === 0)) {
      const [board, wanted] = [boardOf(vector), vector.records![order]];
      const sample = await denoise(run.network, board, HORIZON, decoding, board.legal);
      const line = lineOf(sample.record, HORIZON, board);
      expect(sample.steps).toBe(wanted.steps);
      const fixed = sample.film.map(({ squares }) => squares.join("").replaceAll("?", "").length);
      right.push(
        String(line.map(({ move }) => move)) === String(wanted.moves) &&
          String(line.map(({ squares }) => squares)) === String(wanted.squares) &&
          String(fixed) === String(wanted.fixed),
      );
    }
    console.log(`${order}: ${right.filter(Boolean).length} of ${right.length} records alike`);
    expect(right.length).toBeGreaterThanOrEqual(10);
    expect(share(right)).toBeGreaterThanOrEqual(0.9);
  });
});
