import { defineConfig } from "vite";

// The page is built into the Python package, which serves it; in development `npm run dev` passes the API on.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/diffusearch/play/assets",
    emptyOutDir: true,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": { target: "http://127.0.0.1:8000" } } },
});
