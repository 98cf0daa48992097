// Taking a game away: a link, a FEN, a PGN file.

import { api } from "./api";
import { shownGame } from "./game";
import { linkTo } from "./keep";
import { nameOf, shownFen } from "./select";
import { attempt, changed, state } from "./store";

const play = state.play;

export function openShare(): void {
  state.dialog = { kind: "share", link: linkTo(shownGame()), fen: shownFen(play), copied: null };
  changed();
}

/** To the clipboard; without permission the text is at least selected. */
export async function copy(id: "link" | "fen"): Promise<void> {
  const dialog = state.dialog;
  if (dialog?.kind !== "share") return;
  try {
    await navigator.clipboard.writeText(dialog[id]);
    dialog.copied = id;
    state.said = id === "fen" ? "FEN copied" : "Link copied";
  } catch {
    (document.getElementById(id) as HTMLInputElement).select();
  }
  changed();
}

export async function download(): Promise<void> {
  await attempt(async () => {
    const { pgn } = await api.pgn(play.game, nameOf(state, "white"), nameOf(state, "black"), play.ended?.how ?? {});
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([pgn], { type: "application/x-chess-pgn" }));
    link.download = "diffusearch.pgn";
    link.click();
    URL.revokeObjectURL(link.href);
  });
}
