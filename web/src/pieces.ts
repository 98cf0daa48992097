// One piece as a picture: a board of which only the corner square is seen, so that pieces look as on the board.

import { html, type TemplateResult } from "lit-html";
import type { Side } from "./api";

export function miniPiece(letter: string, side: Side): TemplateResult {
  const shown = side === "white" ? letter.toUpperCase() : letter;
  return html`<span class="piece" aria-hidden="true"
    ><g-chess-board coordinates="hidden" animation-duration="0" fen="${shown}7/8/8/8/8/8/8/8"></g-chess-board
  ></span>`;
}
