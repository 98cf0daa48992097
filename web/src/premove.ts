// Where a piece might go once the other side has moved: its geometry alone. Whether the move is legal is asked then.

import type { Side } from "./api";

type Step = [file: number, rank: number];

const LINES: Step[] = [[1, 0], [-1, 0], [0, 1], [0, -1]];
const DIAGONALS: Step[] = [[1, 1], [1, -1], [-1, 1], [-1, -1]];
const JUMPS: Step[] = [[1, 2], [2, 1], [-1, 2], [-2, 1], [1, -2], [2, -1], [-1, -2], [-2, -1]];

const name = (file: number, rank: number): string | null =>
  file >= 0 && file < 8 && rank >= 0 && rank < 8 ? "abcdefgh"[file]! + String(rank + 1) : null;

/** The piece letter on a square of a FEN, or null. */
export function pieceAt(fen: string, square: string): string | null {
  const row = fen.split(" ")[0]!.split("/")[8 - Number(square[1])] ?? "";
  const cells = row.replace(/\d/g, (digit) => ".".repeat(Number(digit)));
  const letter = cells["abcdefgh".indexOf(square[0]!)];
  return letter && letter !== "." ? letter : null;
}

export function premoveTargets(fen: string, from: string, side: Side): string[] {
  const letter = pieceAt(fen, from);
  if (!letter || (letter === letter.toUpperCase()) !== (side === "white")) return [];
  const file = "abcdefgh".indexOf(from[0]!);
  const rank = Number(from[1]) - 1;
  const reach = (steps: Step[], far: number): (string | null)[] =>
    steps.flatMap(([df, dr]) => Array.from({ length: far }, (_, n) => name(file + df * (n + 1), rank + dr * (n + 1))));
  const up = side === "white" ? 1 : -1;
  const home = side === "white" ? 1 : 6;
  const found = {
    p: () => [...reach([[0, up], [1, up], [-1, up]], 1), rank === home ? name(file, rank + 2 * up) : null],
    n: () => reach(JUMPS, 1),
    b: () => reach(DIAGONALS, 7),
    r: () => reach(LINES, 7),
    q: () => reach([...LINES, ...DIAGONALS], 7),
    k: () => [
      ...reach([...LINES, ...DIAGONALS], 1),
      ...(file === 4 && rank === (side === "white" ? 0 : 7) ? [name(6, rank), name(2, rank)] : []),
    ],
  }[letter.toLowerCase()]!();
  return found.filter((square): square is string => square !== null);
}
