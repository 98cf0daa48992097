// The module of opening names that the build makes (see vite.config.ts).

declare module "virtual:openings" {
  /** Board, turn and castling of a FEN -> the opening's name. */
  const names: Record<string, string>;
  export default names;
}
