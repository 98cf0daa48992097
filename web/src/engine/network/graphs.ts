// The network as four ONNX graphs that share one file of weights, computed by onnxruntime-web (WASM).

import { env, InferenceSession, Tensor } from "onnxruntime-web/wasm";
import { softmax } from "../numbers";
import { KINDS, variables } from "../tokens/layout";
import { VOCABULARY } from "../tokens/moves";
import { WIDTH } from "../tokens/states";
import { draftTensors } from "./draft-tensors";
import type { Context, DraftReading, Look, Network, NextState, RecordLogits, RootDrafts } from "./types";

const WEIGHTS = "weights.safetensors"; // as the graphs name the file
const BINS = 128; // of values

export interface GraphFiles {
  evaluate: Uint8Array;
  predict: Uint8Array;
  denoise: Uint8Array;
  revise: Uint8Array;
  weights: Uint8Array;
}

/** What `evaluate` computed of a batch of roots, and the inputs that the other graphs take from it. */
interface Batch {
  given: Tensor;
  hidden: Tensor;
  past: Tensor;
}

interface RootContext {
  batch: Batch;
  row: number;
}

/** Opens the graphs; `wasm` is onnxruntime's own file. Several threads need a page that is cross-origin isolated. */
export async function openGraphs(files: GraphFiles, wasm: Uint8Array, threads = 1): Promise<Network> {
  env.wasm.wasmBinary = wasm;
  env.wasm.numThreads = threads;
  env.logLevel = "error";
  const open = (graph: Uint8Array): Promise<InferenceSession> =>
    InferenceSession.create(graph, {
      executionProviders: ["wasm"],
      externalData: [{ path: WEIGHTS, data: files.weights }],
      logSeverityLevel: 3,
    });
  const [evaluate, predict] = [await open(files.evaluate), await open(files.predict)];
  return new Graphs(evaluate, predict, (name) => open(files[name]));
}

const integers = (numbers: ArrayLike<number>, shape: number[]): Tensor =>
  new Tensor("int64", BigInt64Array.from(Array.from(numbers, BigInt)), shape);

const joined = (rows: Uint8Array[]): Tensor =>
  integers(rows.flatMap((row) => [...row]), [rows.length, WIDTH]);

const floats = (tensor: Tensor | undefined): Float32Array => tensor!.data as Float32Array;

/** The win probability of logits over equally wide bins. */
const expected = (logits: Float32Array): number =>
  softmax(logits).reduce((total, share, bin) => total + (share * (bin + 0.5)) / BINS, 0);

const NOTHING = Object.fromEntries(KINDS.map((kind) => [kind, new Float32Array(0)])) as RecordLogits;

class Graphs implements Network {
  constructor(
    private readonly evaluating: InferenceSession,
    private readonly predicting: InferenceSession,
    private readonly open: (name: "denoise" | "revise") => Promise<InferenceSession>, // when they are needed first
  ) {}

  private denoising: Promise<InferenceSession> | null = null;
  private revising: Promise<InferenceSession> | null = null;

  async evaluate(states: Uint8Array[]): Promise<Look[]> {
    const given = joined(states);
    const found = await this.evaluating.run({ given });
    const batch: Batch = { given, hidden: found["hidden"]!, past: found["past"]! };
    const [moves, values] = [floats(found["moves"]), floats(found["value"])];
    return states.map((_, row) => ({
      moves: moves.subarray(row * VOCABULARY, (row + 1) * VOCABULARY),
      value: expected(values.subarray(row * BINS, (row + 1) * BINS)),
      context: { batch, row } satisfies RootContext,
    }));
  }

  /** One call for all moves at roots that were evaluated together. */
  async predict(states: Uint8Array[], contexts: (Context | null)[], moves: number[]): Promise<NextState[]> {
    const known = contexts as (RootContext | null)[];
    const out: NextState[] = new Array(states.length);
    const asked = new Map<Batch, number[]>();
    for (const [index, context] of known.entries()) {
      const { batch } = context ?? ((await this.evaluate([states[index]!]))[0]!.context as RootContext);
      asked.set(batch, [...(asked.get(batch) ?? []), index]);
    }
    for (const [batch, indices] of asked) {
      const count = [indices.length];
      const rows = integers(indices.map((index) => known[index]?.row ?? 0), count);
      const played = integers(indices.map((index) => moves[index]!), count);
      const found = await this.predicting.run({ ...batch, rows, moves: played });
      const next = found["states"]!.data as BigInt64Array;
      indices.forEach((index, at) => {
        const row = Uint8Array.from(next.subarray(at * WIDTH, (at + 1) * WIDTH), Number);
        out[index] = { row, logProbability: floats(found["log_probability"])[at]! };
      });
    }
    return out;
  }

  private root: { text: string; look: Look } | null = null; // of the last record

  async denoise(record: Int32Array, horizon: number): Promise<{ logits: RecordLogits; value: number }> {
    const given = Uint8Array.from(record.subarray(0, WIDTH));
    const text = given.join(" ");
    if (this.root?.text !== text) this.root = { text, look: (await this.evaluate([given]))[0]! };
    const { look } = this.root;
    if (horizon === 1) return { logits: { ...NOTHING, action: look.moves.slice() }, value: look.value }; // no future
    const { hidden, past } = (look.context as RootContext).batch;
    const graph = await (this.denoising ??= this.open("denoise"));
    const found = await graph.run({ record: integers(record, [1, variables(horizon)]), hidden, past });
    const logits = Object.fromEntries(KINDS.map((kind) => [kind, floats(found[kind]).slice()])) as RecordLogits;
    return { logits, value: look.value };
  }

  async revise(roots: RootDrafts[]): Promise<DraftReading[]> {
    const most = Math.max(...roots.map(({ drafts }) => drafts.length));
    const [, ...shape] = (roots[0]!.context as RootContext).batch.hidden.dims;
    const size = shape.reduce((product, each) => product * each, 1);
    const of = (context: Context): Float32Array => {
      const { batch, row } = context as RootContext;
      return floats(batch.hidden).subarray(row * size, (row + 1) * size);
    };
    const graph = await (this.revising ??= this.open("revise"));
    const found = await graph.run(draftTensors(roots, most, { of, shape }));
    return roots.map(({ drafts }, row) => {
      const own = (name: string): number[] => [...floats(found[name]).subarray(row * most, row * most + drafts.length)];
      return { scores: own("scores"), scale: floats(found["scale"])[0]!, wins: own("wins") };
    });
  }
}
