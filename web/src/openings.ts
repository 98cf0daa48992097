// The name of the opening. The list is a file of its own, fetched after the first drawing.

import { changed } from "./store";

let names: Record<string, string> = {};

export async function loadOpenings(): Promise<void> {
  names = (await import("virtual:openings")).default;
  changed();
}

/** The name of the last known position among these; null before the list is there or where none is known. */
export function openingOf(fens: string[]): string | null {
  for (const fen of [...fens].reverse()) {
    const name = names[fen.split(" ").slice(0, 3).join(" ")];
    if (name) return name;
  }
  return null;
}
