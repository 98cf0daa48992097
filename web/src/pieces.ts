// The pieces: the board brings the classic ones; two plain sets are drawn here. Also one piece as a picture.

import { html, type TemplateResult } from "lit-html";
import type { Side } from "./api";

// Own drawings on 40 by 40; the foot is the same for all.
const FOOT = '<rect x="9" y="31.5" width="22" height="4" rx="1.5"/>';
const SHAPES: Record<string, string> = {
  p: '<path d="M15 31.5l2-11h6l2 11z"/><circle cx="20" cy="15.5" r="5.5"/>',
  r: '<path d="M11 8h4.5v3h2.5V8h4v3h2.5V8H29v8.5h-3l1 15H13l1-15h-3z"/>',
  n: '<path d="M13 31.5c0-8 6-9 6.5-14l-6.5 4-3.5-4 8-9.5 1.5-4 3 3.5c6.5 2 9.5 10 8.5 24z"/>',
  b: '<path d="M20 5c5.5 5 7.5 9 7.5 13 0 3.5-2 5.5-4.5 6.5l2.5 7h-11l2.5-7c-2.5-1-4.5-3-4.5-6.5 0-4 2-8 7.5-13z"/><path d="M20 11v7"/>',
  q: '<path d="M8 12l6 8 2-12 4 11 4-11 2 12 6-8-3.5 19.5h-17z"/>',
  k: '<path d="M18.5 4h3v3h3v3h-3v4c7-2.5 11 2 9.5 7-1 4-3.5 6-4.5 10.5h-13c-1-4.5-3.5-6.5-4.5-10.5-1.5-5 2.5-9.5 9.5-7v-4h-3V7h3z"/>',
};

const INK = {
  white: { fill: "#fdfcf7", line: "#2b2b28" },
  black: { fill: "#3a3a36", line: "#10100f" },
};

function picture(content: string): string {
  return `url("data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40">${content}</svg>`)}")`;
}

function simple(letter: string, side: Side): string {
  const { fill, line } = INK[side];
  return picture(`<g fill="${fill}" stroke="${line}" stroke-width="1.6" stroke-linejoin="round">${SHAPES[letter]}${FOOT}</g>`);
}

function lettered(letter: string, side: Side): string {
  const { fill, line } = INK[side];
  const ink = side === "white" ? line : "#fdfcf7";
  return picture(
    `<circle cx="20" cy="20" r="15" fill="${fill}" stroke="${line}" stroke-width="2"/>` +
      `<text x="20" y="27" font-family="sans-serif" font-size="20" font-weight="700" text-anchor="middle" fill="${ink}">${letter.toUpperCase()}</text>`,
  );
}

/** The style of the sets that are drawn here, for the boards under a root element that names one. */
export function addPieceStyles(): void {
  const rules = Object.entries({ simple, letters: lettered }).flatMap(([set, draw]) =>
    Object.keys(SHAPES).flatMap((letter) =>
      (["white", "black"] as const).map(
        (side) =>
          `:root[data-pieces="${set}"] g-chess-board::part(piece-${side[0]}${letter}){background-image:${draw(letter, side)}}`,
      ),
    ),
  );
  const style = document.createElement("style");
  style.textContent = rules.join("\n");
  document.head.append(style);
}

/** One piece: a board of which only the corner square is seen, so that it looks as on the board. */
export function miniPiece(letter: string, side: Side): TemplateResult {
  const shown = side === "white" ? letter.toUpperCase() : letter;
  return html`<span class="piece" aria-hidden="true"
    ><g-chess-board coordinates="hidden" animation-duration="0" fen="${shown}7/8/8/8/8/8/8/8"></g-chess-board
  ></span>`;
}
