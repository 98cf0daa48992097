// Drafts as the inputs of the graph `revise`; what was not drafted is zero (drafts/revising.py, draft_arrays).

import { Tensor } from "onnxruntime-web/wasm";
import { NODES } from "../tokens/drafts";
import type { Context, RootDrafts } from "./types";

/** Hidden states of one position, flat; their shape is [given places, width]. */
export interface Hidden {
  of: (context: Context) => Float32Array;
  shape: readonly number[];
}

export function draftTensors(roots: RootDrafts[], most: number, hidden: Hidden): Record<string, Tensor> {
  const size = hidden.shape.reduce((product, each) => product * each, 1);
  const shape = [roots.length, most, NODES];
  const count = roots.length * most * NODES;
  const root = new Float32Array(roots.length * size);
  const states = new Float32Array(count * size);
  const [odds, logShares] = [new Float32Array(count), new Float32Array(count)];
  const [exists, over] = [new Uint8Array(count), new Uint8Array(count)];
  roots.forEach(({ context, drafts }, row) => {
    root.set(hidden.of(context!), row * size);
    drafts.forEach((nodes, rank) =>
      nodes.forEach((node, number) => {
        if (!node) return;
        const at = (row * most + rank) * NODES + number;
        [exists[at], over[at], odds[at], logShares[at]] = [1, Number(node.over), node.odds, node.logShare];
        if (node.context) states.set(hidden.of(node.context), at * size);
      }),
    );
  });
  return {
    root: new Tensor("float32", root, [roots.length, ...hidden.shape]),
    hidden: new Tensor("float32", states, [...shape, ...hidden.shape]),
    root_odds: new Tensor("float32", Float32Array.from(roots, (one) => one.odds), [roots.length]),
    odds: new Tensor("float32", odds, shape),
    log_shares: new Tensor("float32", logShares, shape),
    exists: new Tensor("bool", exists, shape),
    over: new Tensor("bool", over, shape),
  };
}
