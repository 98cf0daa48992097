// What an agent found after its root moves: by a searched tree, or by drafts that the network read.

import { html, nothing, type TemplateResult } from "lit-html";
import type { RootCandidate, Thought } from "./api";
import { percent } from "./select";
import type { Showing } from "./state";
import { changed } from "./store";
import { shareText } from "./view-thought";

interface Column {
  head: string;
  title: string;
  cell: (row: RootCandidate) => TemplateResult | string;
}

const chance = (value: number | null): string => (value === null ? "–" : percent(value));

const barred = (value: number | null): TemplateResult | string =>
  value === null
    ? chance(value)
    : html`<span class="share-bar"><span style="width:${(100 * value).toFixed(1)}%"></span></span> ${chance(value)}`;

const ONE_LOOK: Column = {
  head: "One look",
  title: "Win chance after the move, at one look",
  cell: (row) => chance(row.value),
};

const COLUMNS: Record<"search" | "drafts", Column[]> = {
  search: [
    { head: "Prior", title: "The network's probability before the search", cell: (row) => shareText(row.prior) },
    ONE_LOOK,
    { head: "Searched", title: "Win chance after the move, as the search made it", cell: (row) => barred(row.score) },
  ],
  drafts: [
    { head: "Before", title: "The move's probability at the first look", cell: (row) => shareText(row.prior) },
    {
      head: "After",
      title: "The move's probability after the drafts were read",
      cell: (row) => (row.probability === null ? "–" : barred(row.probability)),
    },
    ONE_LOOK,
    { head: "Read", title: "Win chance after the move, as read from its draft", cell: (row) => chance(row.score) },
  ],
};

const CAPTIONS = { search: "Searched moves", drafts: "Drafted moves" };

export function lookAheadView(thought: Thought, showing: Showing, hidden: boolean): TemplateResult {
  const { by, candidates } = thought.look_ahead ?? { by: "search", candidates: [] };
  const rows = [...candidates.filter((row) => row.score !== null), ...candidates.filter((row) => row.score === null)];
  const shown = showing.candidate ?? thought.move;
  return html`${by === "drafts" ? changeView(thought) : nothing}
    <table class="tree">
      <caption class="hidden">
        ${CAPTIONS[by]}
      </caption>
      <thead>
        <tr>
          <th scope="col">Move</th>
          ${COLUMNS[by].map((column) => html`<th scope="col" title=${column.title}>${column.head}</th>`)}
          ${hidden ? nothing : html`<th scope="col" class="line">${by === "drafts" ? "Draft" : "Line"}</th>`}
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => rowView(row, by, thought, showing, row.uci === shown, hidden))}
      </tbody>
    </table>`;
}

/** Whether the drafts changed the move. */
function changeView(thought: Thought): TemplateResult {
  const rows = thought.look_ahead?.candidates ?? [];
  const first = rows.reduce<RootCandidate | null>((best, row) => (best && best.prior >= row.prior ? best : row), null);
  const words =
    first === null || first.uci === thought.move
      ? "The first look and the drafts agree."
      : `At the first look ${first.san}; after the drafts ${thought.san}.`;
  return html`<p class="change quiet">${words}</p>`;
}

function rowView(
  row: RootCandidate,
  by: "search" | "drafts",
  thought: Thought,
  showing: Showing,
  shown: boolean,
  hidden: boolean,
): TemplateResult {
  const choose = (): void => {
    showing.candidate = row.uci;
    changed();
  };
  return html`<tr class="${row.uci === thought.move ? "chosen" : ""} ${shown ? "shown" : ""}">
    <th scope="row">
      <button type="button" class="san" aria-pressed=${shown} title="Show its line on the board" @click=${choose}>
        ${row.san}
      </button>
    </th>
    ${COLUMNS[by].map((column) => html`<td>${column.cell(row)}</td>`)}
    ${hidden ? nothing : html`<td class="line">${row.line.slice(1).map((step) => step.san).join(" ")}</td>`}
  </tr>`;
}
