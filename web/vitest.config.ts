import { defineConfig } from "vitest/config";

// GOLDEN=all computes for many minutes, for longer on a busy machine.
export default defineConfig({ test: { include: ["tests/**/*.test.ts"], testTimeout: 3_600_000, hookTimeout: 600_000 } });
