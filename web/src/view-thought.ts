// What an agent foresaw: its candidates, the line, the imagined boards and the film of the denoising.

import { html, nothing, type TemplateResult } from "lit-html";
import type { FilmFrame, LinePly, Side, Thought } from "./api";
import { miniBoard, squareName } from "./boards";
import { run, seek } from "./film";
import { shownFrame, type Showing } from "./state";

const percent = (share: number): string => `${Math.round(100 * share)} %`;

/** The move, and how sure of winning it is with it. */
export function headlineView(thought: Thought): TemplateResult {
  return html`<p class="headline">
    <strong>${thought.san}</strong>
    ${thought.value === null ? nothing : html`<span class="quiet">it gives itself ${percent(thought.value)}</span>`}
  </p>`;
}

export function thoughtView(thought: Thought, showing: Showing, orientation: Side, label: string): TemplateResult {
  const frame = shownFrame(thought, showing);
  const live = showing.frame === null ? null : frame; // null: the end, shown with its errors
  return html`
    ${candidatesView(thought)} ${thought.film.length > 1 ? filmView(thought, showing, label) : nothing}
    ${stripView(thought, live, showing, orientation)} ${legendView(thought)}
  `;
}

function candidatesView(thought: Thought): TemplateResult {
  return html`<ol class="candidates" aria-label="Candidate moves">
    ${thought.candidates.map(
      ({ san, uci, probability }) => html`<li class=${uci === thought.move ? "chosen" : ""}>
        <span class="san">${san}</span>
        <span class="bar"><span style="width:${(100 * probability).toFixed(1)}%"></span></span>
        <span class="share">${probability > 0 && probability < 0.005 ? "< 1 %" : percent(probability)}</span>
      </li>`,
    )}
  </ol>`;
}

function filmView(thought: Thought, showing: Showing, label: string): TemplateResult {
  const last = thought.film.length - 1;
  const at = showing.frame ?? last;
  const step = thought.film[at]?.step ?? at;
  const steps = thought.film[last]?.step ?? last;
  return html`<div class="film">
    <button
      type="button"
      class="icon"
      aria-label=${showing.running ? "Stop the film" : "Play the film"}
      @click=${() => run(showing, thought)}
    >
      ${showing.running ? "❚❚" : "►"}
    </button>
    <input
      type="range"
      min="0"
      max=${last}
      .value=${String(at)}
      aria-label="Denoising step of ${label}"
      aria-valuetext="step ${step} of ${steps}"
      @input=${(event: Event) => seek(showing, thought, Number((event.target as HTMLInputElement).value))}
    />
    <span class="step">step ${step} / ${steps}</span>
  </div>`;
}

function stripView(
  thought: Thought,
  frame: FilmFrame | null,
  showing: Showing,
  orientation: Side,
): TemplateResult | typeof nothing {
  if (!pliesOf(thought).some((ply) => ply.squares)) return nothing;
  const before = frame ? thought.film[(showing.frame ?? 0) - 1] : undefined;
  return html`<ol class="strip" aria-label=${thought.imagined ? "Imagined boards" : "The line on boards"}>
    ${pliesOf(thought).map((ply, index) => cardView(ply, index, frame, before, orientation))}
  </ol>`;
}

/** The plies to show: the line, and what was denoised behind it where the agent says that the game is over before. */
function pliesOf(thought: Thought): LinePly[] {
  const last = thought.film.at(-1);
  const behind = (last?.moves ?? []).slice(thought.line.length).map((_, index) => ({
    uci: null,
    san: null,
    legal: true,
    squares: last?.squares[thought.line.length + index] ?? null,
    wrong: [],
    problem: "game over",
  }));
  return [...thought.line, ...behind].slice(0, 8);
}

function cardView(
  ply: LinePly,
  index: number,
  frame: FilmFrame | null,
  before: FilmFrame | undefined,
  orientation: Side,
): TemplateResult {
  const fixed = frame ? (frame.moves[index] ?? null) : ply.uci;
  const name = fixed === null ? (frame ? "?" : "–") : fixed === ply.uci ? (ply.san ?? fixed) : fixed === "0000" ? "–" : fixed;
  const squares = frame ? (frame.squares[index] ?? null) : ply.squares;
  const marks: Record<string, string> = {};
  if (frame && squares) {
    // Fixed in this very step: shown for as long as the step is.
    const old = before?.squares[index];
    [...squares].forEach((letter, place) => {
      if (old && letter !== "?" && old[place] === "?") marks[squareName(place)] = "fresh";
    });
  } else {
    if (ply.uci) for (const square of [ply.uci.slice(0, 2), ply.uci.slice(2, 4)]) marks[square] = "last";
    for (const square of ply.wrong) marks[square] = "wrong";
  }
  const kind = !ply.legal && !frame ? "bad" : index % 2 ? "foe" : "own";
  return html`<li>
    <div class="ply"><span class="disc ${kind}">${index + 1}</span><span class="san">${name}</span></div>
    ${squares ? miniBoard(squares, `Board after ply ${index + 1}`, orientation, marks) : nothing}
    <div class="verdict">${frame ? leftView(squares) : verdictView(ply)}</div>
  </li>`;
}

function legendView(thought: Thought): TemplateResult | typeof nothing {
  if (pliesOf(thought).length < 2) return nothing;
  return html`<p class="legend">
    <span class="disc own"></span> its own moves <span class="disc foe"></span> the other side’s
    ${thought.imagined ? html`<span class="swatch masked"></span> masked <span class="swatch wrong"></span> wrong` : nothing}
  </p>`;
}

const leftView = (squares: string | null): string => {
  const left = [...(squares ?? "")].filter((letter) => letter === "?").length;
  return left ? `${left} masked` : "";
};

function verdictView(ply: LinePly): TemplateResult | typeof nothing {
  if (ply.uci && !ply.legal) return html`<span class="bad">illegal move</span>`;
  if (ply.wrong.length) {
    return html`<span class="bad">${ply.wrong.length} ${ply.wrong.length === 1 ? "square" : "squares"} wrong</span>`;
  }
  if (ply.problem) return html`<span>${ply.problem}</span>`;
  return ply.uci && !ply.squares ? html`<span>no board imagined</span>` : nothing;
}

/** One line of figures under a thought. */
export function figuresView(thought: Thought): TemplateResult {
  const parts = [
    thought.nodes ? `${thought.nodes.toLocaleString("en")} ${thought.nodes === 1 ? "evaluation" : "evaluations"}` : null,
    `${thought.seconds < 10 ? thought.seconds.toFixed(2) : thought.seconds.toFixed(0)} s`,
    thought.legal_mass === null ? null : `${percent(thought.legal_mass)} of its mind on legal moves`,
  ];
  return html`<p class="figures">${parts.filter(Boolean).join(" · ")}</p>`;
}
