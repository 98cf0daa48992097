// Loads the network in the worker: three graphs, their weights and onnxruntime's WASM, from the cache or the host.

import wasm from "onnxruntime-web/ort-wasm-simd-threaded.wasm?url";
import denoise from "../../../../src/diffusearch/weights/diffusearch/denoise.onnx?url";
import evaluate from "../../../../src/diffusearch/weights/diffusearch/evaluate.onnx?url";
import predict from "../../../../src/diffusearch/weights/diffusearch/predict.onnx?url";
import weights from "../../../../src/diffusearch/weights/diffusearch/weights.safetensors?url";
import { fileBytes } from "../files";
import { openGraphs } from "./graphs";
import type { Network } from "./types";

const bytes = (address: string): Promise<Uint8Array> => fileBytes(new URL(address, import.meta.url).href);

export async function loadNetwork(): Promise<Network> {
  const addresses = [evaluate, predict, denoise, weights, wasm];
  const [first, second, third, numbers, runtime] = await Promise.all(addresses.map(bytes));
  const files = { evaluate: first!, predict: second!, denoise: third!, weights: numbers! };
  return openGraphs(files, runtime!);
}
