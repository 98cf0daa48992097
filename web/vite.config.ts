import { createRequire } from "node:module";
import { defineConfig, type Plugin } from "vite";

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

// The page is built into the Python package, which serves it; in development `npm run dev` passes the API on.
export default defineConfig({
  base: "./",
  plugins: [openings()],
  build: {
    outDir: "../src/diffusearch/play/assets",
    emptyOutDir: true,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": { target: "http://127.0.0.1:8000" } } },
});
