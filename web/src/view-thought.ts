// What an agent expects: the moves it considers, the line and its boards. Films and trees have files of their own.

import { html, nothing, type TemplateResult } from "lit-html";
import type { Candidate, FilmFrame, LinePly, Side, Thought } from "./api";
import { miniBoard, squareName } from "./boards";
import { percent, shownCandidate, shownFrame } from "./select";
import type { Showing } from "./state";
import { filmView } from "./view-film";
import { lookAheadView } from "./view-look-ahead";

export interface ShownThought {
  thought: Thought;
  showing: Showing;
  orientation: Side;
  label: string; // whose thought
  hidden: boolean; // only the first ply may be seen
  ahead: boolean; // the first move is on the board already
}

/** The move, and the mover's chance to win with it. */
export function headlineView(thought: Thought): TemplateResult {
  return html`<p class="headline">
    <strong>${thought.san}</strong>
    ${thought.value === null ? nothing : html`<span class="quiet">${percent(thought.value)} win chance</span>`}
  </p>`;
}

export function thoughtView(shown: ShownThought): TemplateResult {
  const { thought, showing } = shown;
  const frame = shownFrame(thought, showing); // null: the end, shown with its errors
  const other = shownCandidate(thought, showing); // another move has no boards of its own
  return html`
    ${thought.look_ahead ? lookAheadView(thought, showing, shown.hidden) : candidatesView(thought, weighedAt(thought, showing))}
    ${thought.film.length > 1 ? filmView(thought, showing, shown.label) : nothing}
    ${other && other.uci !== thought.move ? nothing : stripView(shown, frame)} ${legendView(thought, shown.hidden)}
  `;
}

/** The moves and their probabilities: at a step of a film those of the step, up to the one that fixed the move. */
function weighedAt(thought: Thought, showing: Showing): (Omit<Candidate, "probability"> & { probability: number | null })[] {
  const { film, candidates } = thought;
  if (showing.frame === null || !film.some((frame) => frame.candidates.length)) return candidates;
  let at = Math.min(showing.frame, film.length - 1);
  while (at > 0 && film[at - 1]!.moves[0] !== null) at -= 1; // what is fixed is not asked again
  const recorded = film[at]!.candidates;
  return recorded.length ? recorded : candidates.map((each) => ({ ...each, probability: null }));
}

export const shareText = (share: number): string => (share > 0 && share < 0.005 ? "< 1 %" : percent(share));

function candidatesView(thought: Thought, weighed: ReturnType<typeof weighedAt>): TemplateResult {
  return html`<ol class="candidates" aria-label="Candidate moves">
    ${weighed.map(
      ({ san, uci, probability }) => html`<li class=${uci === thought.move ? "chosen" : ""}>
        <span class="san">${san}</span>
        <span class="share-bar"><span style="width:${(100 * (probability ?? 0)).toFixed(1)}%"></span></span>
        <span class="share">${probability === null ? "–" : shareText(probability)}</span>
      </li>`,
    )}
  </ol>`;
}

const MOST = 8; // plies that are shown

const pliesOf = (thought: Thought, hidden: boolean): LinePly[] => thought.line.slice(0, hidden ? 1 : MOST);

function stripView(shown: ShownThought, frame: FilmFrame | null): TemplateResult | typeof nothing {
  const { thought, showing, orientation, hidden } = shown;
  const plies = pliesOf(thought, hidden);
  const boards = plies.findLastIndex((ply) => ply.squares) + 1;
  const before = frame ? thought.film[(showing.frame ?? 0) - 1] : undefined;
  return html`${boards
    ? html`<ol class="strip" aria-label=${thought.imagined ? "Imagined boards" : "The line on boards"}>
        ${plies.slice(0, boards).map((ply, index) => cardView(ply, index, frame, before, orientation))}
      </ol>`
    : nothing}
  ${restView(plies, boards, frame)}`;
}

/** Moves without a board of their own, as text. */
function restView(plies: LinePly[], boards: number, frame: FilmFrame | null): TemplateResult | typeof nothing {
  const rest = plies.slice(boards).map((ply, index) => {
    const number = boards + index;
    const fixed = frame ? (frame.moves[number] ?? null) : ply.uci;
    return fixed === null ? "?" : fixed === ply.uci ? (ply.san ?? fixed) : fixed;
  });
  if (!rest.length || (plies.length < 2 && !boards)) return nothing;
  return html`<p class="rest quiet">${boards ? "then" : "the line:"} <b>${rest.join(" ")}</b></p>`;
}

function cardView(
  ply: LinePly,
  index: number,
  frame: FilmFrame | null,
  before: FilmFrame | undefined,
  orientation: Side,
): TemplateResult {
  const fixed = frame ? (frame.moves[index] ?? null) : ply.uci;
  const name = fixed === null ? "?" : fixed === ply.uci ? (ply.san ?? fixed) : fixed === "0000" ? "–" : fixed;
  const squares = frame ? (frame.squares[index] ?? null) : ply.squares;
  const marks: Record<string, string> = {};
  if (frame && squares) {
    // Fixed in this very step: shown for as long as the step is.
    const old = before?.squares[index];
    [...squares].forEach((letter, place) => {
      if (old && letter !== "?" && old[place] === "?") marks[squareName(place)] = "fresh";
    });
  } else {
    for (const square of [ply.uci.slice(0, 2), ply.uci.slice(2, 4)]) marks[square] = "last";
    for (const square of ply.wrong) marks[square] = "wrong";
  }
  const kind = !ply.legal && !frame ? "bad" : index % 2 ? "foe" : "own";
  const sure = frame?.confidence[index] ?? [];
  return html`<li>
    <div class="ply"><span class="disc ${kind}">${index + 1}</span><span class="san">${name}</span></div>
    ${squares ? miniBoard(squares, `Board after ply ${index + 1}`, orientation, marks, sure) : nothing}
    <div class="verdict">${frame ? leftView(squares, sure) : verdictView(ply)}</div>
  </li>`;
}

function legendView(thought: Thought, hidden: boolean): TemplateResult | typeof nothing {
  if (pliesOf(thought, hidden).length < 2) return nothing;
  const key = (sign: string, words: string): TemplateResult => html`<span><span class=${sign}></span>${words}</span>`;
  return html`<p class="legend">
    ${key("disc own", "its own moves")} ${key("disc foe", "the other side’s")}
    ${thought.film.length > 1
      ? html`${key("swatch masked", "masked (bluer: surer)")} ${key("swatch fresh", "fixed in this step")}`
      : nothing}
    ${thought.imagined ? key("swatch wrong", "wrong square") : nothing}
  </p>`;
}

/** How much of a board is still masked, and how sure the network is of its squares on average. */
function leftView(squares: string | null, sure: number[]): string {
  const left = [...(squares ?? "")].filter((letter) => letter === "?").length;
  const mean = sure.reduce((sum, each) => sum + each, 0) / (sure.length || 1);
  return [left ? `${left} masked` : "", mean > 0 ? `${percent(mean)} sure` : ""].filter(Boolean).join(", ");
}

function verdictView(ply: LinePly): TemplateResult | typeof nothing {
  if (!ply.legal) return html`<span class="bad">illegal move</span>`;
  if (ply.wrong.length) {
    return html`<span class="bad">${ply.wrong.length} ${ply.wrong.length === 1 ? "square" : "squares"} wrong</span>`;
  }
  return ply.problem ? html`<span>${ply.problem}</span>` : nothing;
}

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** One line of figures under a thought. */
export function figuresView(thought: Thought): TemplateResult {
  const { steps, evaluations, seconds, legal_mass } = thought;
  const parts = [
    steps ? counted(steps, "network call", "network calls") : null,
    evaluations ? counted(evaluations, "evaluation", "evaluations") : null,
    `${seconds < 10 ? seconds.toFixed(2) : seconds.toFixed(0)} s`,
    legal_mass === null ? null : `${percent(legal_mass)} of the probability on legal moves`,
  ];
  return html`<p class="figures">${parts.filter(Boolean).join(" · ")}</p>`;
}
