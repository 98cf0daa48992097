import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin, type UserConfig } from "vite";

/** The names of the openings as one module: of the package's entries the page needs only position and name. */
function openings(): Plugin {
  const id = "virtual:openings";
  return {
    name: "openings",
    resolveId: (source) => (source === id ? `\0${id}` : null),
    load(source) {
      if (source !== `\0${id}`) return null;
      const { eco } = createRequire(import.meta.url)("chess-openings/dist/chess/openings/eco.js") as {
        eco: Record<string, { name: string }>;
      };
      // Board, turn and castling are enough: the file's en passant squares differ from those of a FEN.
      const names = Object.entries(eco).map(([epd, { name }]) => [epd.split(" ").slice(0, 3).join(" "), name]);
      return `export default JSON.parse(${JSON.stringify(JSON.stringify(Object.fromEntries(names)))});`;
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

/** What only the static page has: manifest, content policy, and the list of all files for the service worker. */
function offline(): Plugin {
  return {
    name: "offline",
    enforce: "post",
    transformIndexHtml: () => [
      { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: POLICY }, injectTo: "head-prepend" },
      { tag: "link", attrs: { rel: "manifest", href: "./manifest.webmanifest" }, injectTo: "head" },
    ],
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        this.emitFile({ type: "asset", fileName: "manifest.webmanifest", source: JSON.stringify(MANIFEST, null, 2) });
        const files = Object.keys(bundle).filter((file) => file !== "service-worker.js");
        const built = [...new Set([...files, "icon.svg", "licences.txt", "manifest.webmanifest", "index.html"])].sort();
        const worker = bundle["service-worker.js"];
        if (worker?.type !== "chunk") throw new Error("the build has no service-worker.js");
        worker.code = `const BUILT = ${JSON.stringify(built)};\n${worker.code}`;
      },
    },
  };
}

const local = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The static page computes the packaged network by graphs beside its weights. */
function checkGraphs(): void {
  for (const name of ["evaluate", "predict", "denoise", "revise"]) {
    const file = `src/diffusearch/weights/diffusearch/${name}.onnx`;
    if (!existsSync(local(`../${file}`)))
      throw new Error(`The static page needs ${file}, and it is missing; write the graphs of the run there first.`);
  }
}

// `vite build` writes the page that `diffusearch play` serves into the Python package. `vite build --mode static` writes
// the page that needs no server. In development `npm run dev` passes the API on, `npm run dev -- --mode static` needs none.
export default defineConfig(({ mode }): UserConfig => {
  const alone = mode === "static";
  const common: UserConfig = {
    base: "./",
    resolve: { alias: { "#backend": local(alone ? "src/api-worker.ts" : "src/api-server.ts") } },
    server: alone ? { fs: { allow: [".."] } } : { proxy: { "/api": { target: "http://127.0.0.1:8000" } } },
  };
  if (!alone)
    return {
      ...common,
      plugins: [openings()],
      build: { outDir: "../src/diffusearch/play/assets", emptyOutDir: true, modulePreload: { polyfill: false } },
    };
  checkGraphs();
  return {
    ...common,
    plugins: [openings(), offline()],
    worker: { format: "es" },
    build: {
      outDir: "../build/static",
      emptyOutDir: true,
      modulePreload: { polyfill: false },
      rollupOptions: {
        input: { index: local("index.html"), "service-worker": local("src/service-worker.ts") },
        output: { entryFileNames: ({ name }) => (name === "service-worker" ? "[name].js" : "assets/[name]-[hash].js") },
      },
    },
  };
});
