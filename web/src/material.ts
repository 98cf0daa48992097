// What each side has lost and who is ahead, counted from the board alone.

import type { Side } from "./api";

const WORTH: Record<string, number> = { p: 1, n: 3, b: 3, r: 5, q: 9 };
const FULL: Record<string, number> = { q: 1, r: 2, b: 2, n: 2, p: 8 };
const GLYPHS: Record<string, string> = { q: "♛", r: "♜", b: "♝", n: "♞", p: "♟" };
const NAMES: Record<string, string> = { q: "queen", r: "rook", b: "bishop", n: "knight", p: "pawn" };

export interface Captured {
  glyphs: string; // one for each piece that the other side lost
  words: string; // the same for screen readers
  ahead: number; // points of material, 0 where this side is not ahead
}

const count = (fen: string, letter: string): number => fen.split(" ")[0]!.split(letter).length - 1;

/** What `side` has taken in a game that began with all pieces; a promoted pawn counts as one that is gone. */
export function capturedBy(side: Side, fen: string): Captured {
  const own = (letter: string): string => (side === "white" ? letter.toUpperCase() : letter);
  const foe = (letter: string): string => (side === "white" ? letter : letter.toUpperCase());
  let glyphs = "";
  let ahead = 0;
  const words: string[] = [];
  for (const letter of Object.keys(FULL)) {
    const lost = Math.max(0, FULL[letter]! - count(fen, foe(letter)));
    glyphs += GLYPHS[letter]!.repeat(lost);
    if (lost) words.push(`${lost} ${NAMES[letter]}${lost > 1 ? "s" : ""}`);
    ahead += WORTH[letter]! * (count(fen, own(letter)) - count(fen, foe(letter)));
  }
  return { glyphs, words: words.join(", "), ahead: Math.max(0, ahead) };
}
