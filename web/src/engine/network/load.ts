// Loads the network in the worker: four graphs, their weights and onnxruntime's WASM, from the cache or the host.

import wasm from "onnxruntime-web/ort-wasm-simd-threaded.wasm?url";
import denoise from "../../../../src/diffusearch/weights/diffusearch/denoise.onnx?url";
import evaluate from "../../../../src/diffusearch/weights/diffusearch/evaluate.onnx?url";
import predict from "../../../../src/diffusearch/weights/diffusearch/predict.onnx?url";
import revise from "../../../../src/diffusearch/weights/diffusearch/revise.onnx?url";
import weights from "../../../../src/diffusearch/weights/diffusearch/weights.safetensors?url";
import { fileBytes } from "../files";
import { openGraphs } from "./graphs";
import type { Network } from "./types";

const bytes = (address: string): Promise<Uint8Array> => fileBytes(new URL(address, import.meta.url).href);

export async function loadNetwork(): Promise<Network> {
  const addresses = { evaluate, predict, denoise, revise, weights, wasm };
  const named = Object.entries(addresses).map(async ([name, address]) => [name, await bytes(address)] as const);
  const { wasm: runtime, ...files } = Object.fromEntries(await Promise.all(named)) as Record<keyof typeof addresses, Uint8Array>;
  return openGraphs(files, runtime);
}
