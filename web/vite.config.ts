import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin, type UserConfig } from "vite";
import { engineFiles, offline } from "./static-build";

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

const local = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

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
  return {
    ...common,
    plugins: [openings(), engineFiles(), offline()],
    worker: { format: "es", plugins: () => [engineFiles()] },
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
