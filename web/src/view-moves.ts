// The moves of the game in two columns, the opening's name, and what can be done with the game.

import { html, nothing, type TemplateResult } from "lit-html";
import { browse } from "./game";
import { openingOf } from "./openings";
import { isMistake } from "./review";
import { resultOf, shownPly } from "./select";
import { download, openShare } from "./share";
import type { PlayState } from "./state";
import { changed, state } from "./store";
import { button } from "./view-parts";
import { openReview } from "./view-review";

export function movesView(play: PlayState): TemplateResult {
  const history = play.position?.history ?? [];
  const ply = shownPly(play);
  const opening = openingOf(history.slice(0, ply).map((move) => move.fen));
  return html`<section class="card moves" aria-label="Moves">
    <header>
      <h2>Moves</h2>
      <nav aria-label="Browse the game">
        ${browseButton("«", "First position", 0, ply === 0)} ${browseButton("‹", "One back", ply - 1, ply === 0)}
        ${browseButton("›", "One on", ply + 1, ply === history.length)}
        ${browseButton("»", "Last position", history.length, ply === history.length)}
      </nav>
    </header>
    ${opening ? html`<p class="opening">${opening}</p>` : nothing}
    ${history.length ? listView(play, ply) : html`<p class="empty">No moves yet.</p>`} ${resultView(play)}
    <div class="row small">
      ${button("Paste FEN or PGN", () => {
        state.dialog = { kind: "paste", text: "", human: "both", problem: null };
        changed();
      })}
      ${button("Download PGN", () => void download())} ${button("Share or copy", openShare)}
      ${button("Review", openReview, { off: !history.length || play.review !== null || play.thinking })}
    </div>
  </section>`;
}

/** One row a full move; a game that Black begins has a gap in White's column. */
function listView(play: PlayState, ply: number): TemplateResult {
  const history = play.position!.history;
  const [, turn, , , , number] = play.position!.start.split(" ");
  const cells: (number | null)[] = [...(turn === "b" ? [null] : []), ...history.keys()];
  const rows = Array.from({ length: Math.ceil(cells.length / 2) }, (_, row) => cells.slice(2 * row, 2 * row + 2));
  const worst = new Set(play.review?.moves.filter(isMistake).map((move) => move.ply));
  return html`<ol class="list">
    ${rows.map(
      (row, index) => html`<li>
        <span class="quiet">${Number(number ?? 1) + index}.</span>
        ${row.map((at) =>
          at === null
            ? html`<span class="quiet">…</span>`
            : html`<button
                type="button"
                class="move ${at + 1 === ply ? "here" : ""} ${worst.has(at) ? "mistake" : ""}"
                aria-current=${at + 1 === ply ? "step" : nothing}
                @click=${() => browse(at + 1)}
              >
                ${history[at]!.san}
              </button>`,
        )}
      </li>`,
    )}
  </ol>`;
}

const browseButton = (sign: string, label: string, ply: number, off: boolean): TemplateResult =>
  html`<button type="button" class="icon" aria-label=${label} ?disabled=${off} @click=${() => browse(ply)}>
    ${sign}
  </button>`;

function resultView(play: PlayState): TemplateResult | typeof nothing {
  const result = resultOf(play);
  if (!result) return nothing;
  return html`<p class="result"><strong>${result.score.replaceAll("1/2", "½")}</strong> ${result.reason}</p>`;
}
