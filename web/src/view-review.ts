// The review: White's win chance over the moves as a graph, and the largest mistakes with what was better.

import { html, nothing, svg, type TemplateResult } from "lit-html";
import type { ReviewedMove } from "./api";
import { browse } from "./game";
import { chances, closeReview, mistakes, startReview } from "./review";
import { cardOf, nameOf, percent, shownPly } from "./select";
import type { PlayState } from "./state";
import { state } from "./store";
import { button } from "./view-parts";

/** The review of the game; the focus goes there. */
export function openReview(): void {
  void startReview();
  queueMicrotask(() => document.getElementById("review")?.focus({ preventScroll: true }));
}

const WIDE = 600;
const HIGH = 120;

export function reviewView(play: PlayState): TemplateResult | typeof nothing {
  const review = play.review;
  if (!review) return nothing;
  const count = play.game.moves.length;
  const name = cardOf(state, review.opponent.agent)?.name ?? "the agent";
  const done = review.moves.length;
  return html`<section class="card review" id="review" tabindex="-1" aria-label="Review" aria-busy=${review.running}>
    <header>
      <h2>Review by ${name}</h2>
      ${button("Close", closeReview)}
    </header>
    ${graphView(play, count)}
    ${done < count
      ? html`<p class="quiet">
          ${done} of ${count} moves judged${review.running ? " …" : nothing}
          ${review.running ? nothing : button("Go on", () => void startReview())}
        </p>`
      : nothing}
    ${mistakesView(play, done === count)} ${hereView(play)}
  </section>`;
}

/** A click on the graph shows the position there; the moves and the mistakes are buttons for those without a mouse. */
function graphView(play: PlayState, count: number): TemplateResult {
  const white = chances(play);
  const x = (ply: number): number => (count ? (WIDE * ply) / count : 0);
  const y = (chance: number): number => HIGH * (1 - chance);
  const points = white.map((chance, ply) => `${x(ply).toFixed(1)},${y(chance).toFixed(1)}`);
  const ply = shownPly(play);
  const seek = (event: MouseEvent): void => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    browse(Math.round((count * (event.clientX - box.left)) / box.width));
  };
  const last = white.length - 1;
  const words = white.length ? `White's win chance: ${percent(white[0]!)} at first, ${percent(white[last]!)} after ${last} half-moves` : "No value yet";
  return html`<svg class="graph" viewBox="0 0 ${WIDE} ${HIGH}" preserveAspectRatio="none" role="img" aria-label=${words} @click=${seek}>
    ${white.length ? svg`<polygon class="white" points="0,${HIGH} ${points.join(" ")} ${x(last)},${HIGH}"></polygon>` : nothing}
    <line class="half" x1="0" x2=${WIDE} y1=${HIGH / 2} y2=${HIGH / 2}></line>
    ${white.length ? svg`<polyline points=${points.join(" ")}></polyline>` : nothing}
    <line class="now" x1=${x(ply)} x2=${x(ply)} y1="0" y2=${HIGH}></line>
    ${mistakes(play).map(
      (move) => svg`<line class="mistake" x1=${x(move.ply + 1)} x2=${x(move.ply + 1)} y1=${y(white[move.ply] ?? 0.5)} y2=${y(move.white_value)}></line>`,
    )}
  </svg>`;
}

/** On a small screen the board may be out of sight. */
function show(ply: number): void {
  browse(ply);
  document.querySelector(".board-row")?.scrollIntoView({ block: "nearest" });
}

function mistakesView(play: PlayState, ready: boolean): TemplateResult {
  const worst = mistakes(play);
  if (!worst.length) return html`<p class="quiet">${ready ? "No large mistake on either side." : nothing}</p>`;
  return html`<ol class="mistakes" aria-label="Largest mistakes">
    ${worst.map(
      (move) => html`<li>
        <button type="button" class=${shownPly(play) === move.ply ? "here" : ""} @click=${() => show(move.ply)}>
          <span class="chip ${move.side}" aria-hidden="true"></span>
          <span>
            <b>${numberOf(play, move)} ${move.san}</b> <span class="quiet">by ${nameOf(state, move.side).replace(/^You$/, "you")}</span>
            <span class="drop">−${percent(move.loss)}</span><br />
            <span class="quiet">better: </span><b>${move.best.san}</b>
            <span class="quiet">${move.line.slice(1, 4).map((step) => step.san).join(" ")}</span>
          </span>
        </button>
      </li>`,
    )}
  </ol>`;
}

/** What the agent says of the move that was played from the board on show. */
function hereView(play: PlayState): TemplateResult | typeof nothing {
  const move = play.review?.moves[shownPly(play)];
  if (!move) return nothing;
  const same = move.uci === move.best.uci;
  return html`<p class="here-now">
    Next was <b>${move.san}</b>${same ? ", the agent’s own choice." : html`; the agent prefers <b>${move.best.san}</b>.`}
    <span class="quiet">${same || move.loss < 0.005 ? nothing : `It cost ${percent(move.loss)} win chance.`}</span>
  </p>`;
}

function numberOf(play: PlayState, move: ReviewedMove): string {
  const [, turn, , , , number] = (play.position?.start ?? "").split(" ");
  const half = move.ply + (turn === "b" ? 1 : 0);
  return `${Number(number ?? 1) + Math.floor(half / 2)}${half % 2 ? "…" : "."}`;
}
