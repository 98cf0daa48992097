// Loads the network in the worker: four graphs, their weights and onnxruntime's WASM, from the cache or the host.

import built from "virtual:engine-files";
import { Refused } from "../../api-types";
import { FileFault, fileBytes } from "../files";
import { openGraphs } from "./graphs";
import type { Network } from "./types";

const SCOPE = new URL("../", self.location.href).href; // the page's folder: the build puts the worker into assets/

export async function loadNetwork(): Promise<Network> {
  const named = Object.entries(built).map(async ([name, { address, ...expected }]) => {
    return [name, await fileBytes(SCOPE, new URL(address, import.meta.url).href, expected)] as const;
  });
  const found = await Promise.all(named).catch((error: unknown) => {
    throw error instanceof FileFault ? new Refused(error.message) : error;
  });
  const { wasm, ...files } = Object.fromEntries(found) as Record<keyof typeof built, Uint8Array>;
  return openGraphs(files, wasm);
}
