// The module of the engine's files that the build makes (see static-build.ts).

declare module "virtual:engine-files" {
  type Name = "evaluate" | "predict" | "denoise" | "revise" | "weights" | "wasm";
  /** Where each file is, and what it must be. */
  const files: Record<Name, { address: string; size: number; sha256: string }>;
  export default files;
}
