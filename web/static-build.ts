// What only the static page's build does: hashes of its files, the manifest, the content policy.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const GRAPHS = ["evaluate", "predict", "denoise", "revise"];
const RUN = "../src/diffusearch/weights/diffusearch";
const WASM = "onnxruntime-web/ort-wasm-simd-threaded.wasm";

/** Size and hash of a file, as the page checks them. */
function built(path: string): { size: number; sha256: string } {
  const bytes = readFileSync(path);
  return { size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

function enginePaths(): Record<string, string> {
  const local = (file: string): string => fileURLToPath(new URL(`${RUN}/${file}`, import.meta.url));
  const graphs = GRAPHS.map((name) => [name, local(`${name}.onnx`)]);
  for (const [, path] of graphs)
    if (!existsSync(path!))
      throw new Error(`The static page needs ${path}, and it is missing; write the graphs of the run there first.`);
  const wasm = createRequire(import.meta.url).resolve(WASM);
  return { ...Object.fromEntries(graphs), weights: local("weights.safetensors"), wasm };
}

/** The engine's files as one module: where each is, and its size and hash. */
export function engineFiles(): Plugin {
  const id = "virtual:engine-files";
  return {
    name: "engine-files",
    resolveId: (source) => (source === id ? `\0${id}` : null),
    load(source) {
      if (source !== `\0${id}`) return null;
      const files = Object.entries(enginePaths());
      const imports = files.map(([name, path]) => `import ${name} from ${JSON.stringify(`${path}?url`)};`);
      const entries = files.map(([name, path]) => `${name}: { address: ${name}, ...${JSON.stringify(built(path))} },`);
      return [...imports, "export default {", ...entries, "};"].join("\n");
    },
  };
}

const MANIFEST = {
  name: "DiffuSearch",
  short_name: "DiffuSearch",
  description: "Play chess against a discrete-diffusion transformer",
  start_url: "./index.html",
  scope: "./",
  display: "standalone",
  background_color: "#ffffff",
  theme_color: "#4a4bb5",
  icons: [{ src: "icon.svg", sizes: "any", type: "image/svg+xml" }],
};

// Scripts and WASM from the page's own files alone. A host that sends headers may be stricter.
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const SERVICE_WORKER = "service-worker.js";

/** Manifest, content policy, and, once all files are written, their list for the service worker. */
export function offline(): Plugin {
  return {
    name: "offline",
    enforce: "post",
    transformIndexHtml: () => [
      { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: POLICY }, injectTo: "head-prepend" },
      { tag: "link", attrs: { rel: "manifest", href: "./manifest.webmanifest" }, injectTo: "head" },
    ],
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "manifest.webmanifest", source: JSON.stringify(MANIFEST, null, 2) });
    },
    writeBundle({ dir }, bundle) {
      const chunk = bundle[SERVICE_WORKER];
      if (chunk?.type !== "chunk" || chunk.imports.length) throw new Error(`${SERVICE_WORKER} must be one file; import less.`);
      const found = readdirSync(dir!, { recursive: true, encoding: "utf8" });
      const files = found.filter((name) => name !== SERVICE_WORKER && statSync(join(dir!, name)).isFile());
      const listed = files.map((name) => name.replaceAll("\\", "/")).sort();
      const list = Object.fromEntries(listed.map((name) => [name, built(join(dir!, name))]));
      const worker = join(dir!, SERVICE_WORKER);
      writeFileSync(worker, `const BUILT = ${JSON.stringify(list)};\n${readFileSync(worker, "utf8")}`);
    },
  };
}
