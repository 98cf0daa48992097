// What an agent found after its root moves: by a searched tree, or by drafts that the network read.

import { html, nothing, type TemplateResult } from "lit-html";
import type { RootCandidate, Thought } from "./api";
import { percent } from "./select";
import type { Showing } from "./state";
import { changed } from "./store";
import { shareText } from "./view-thought";

interface Column {
  group: "Probability" | "Win chance";
  head: string;
  title: string;
  cell: (row: RootCandidate) => TemplateResult | string;
}

const chance = (value: number | null): string => (value === null ? "–" : percent(value));

const barred = (value: number | null, words: (value: number) => string): TemplateResult | string =>
  value === null
    ? chance(value)
    : html`<span class="share-bar"><span style="width:${(100 * value).toFixed(1)}%"></span></span>
        <span class="number">${words(value)}</span>`;

const ONE_LOOK: Column = {
  group: "Win chance",
  head: "One look",
  title: "Win chance after the move, at one look",
  cell: (row) => chance(row.value),
};

const COLUMNS: Record<"search" | "drafts", Column[]> = {
  search: [
    {
      group: "Probability",
      head: "Prior",
      title: "The network's probability before the search",
      cell: (row) => shareText(row.prior),
    },
    ONE_LOOK,
    {
      group: "Win chance",
      head: "Searched",
      title: "Win chance after the move, as the search made it",
      cell: (row) => barred(row.score, percent),
    },
  ],
  drafts: [
    {
      group: "Probability",
      head: "Before",
      title: "The move's probability at the first look",
      cell: (row) => shareText(row.prior),
    },
    {
      group: "Probability",
      head: "After",
      title: "The move's probability after the drafts were read",
      cell: (row) => barred(row.probability, shareText),
    },
    ONE_LOOK,
    {
      group: "Win chance",
      head: "Read",
      title: "Win chance after the move, as read from its draft",
      cell: (row) => chance(row.score),
    },
  ],
};

const CAPTIONS = { search: "Searched moves", drafts: "Drafted moves" };

export function lookAheadView(thought: Thought, showing: Showing, hidden: boolean): TemplateResult {
  const { by, candidates } = thought.look_ahead ?? { by: "search", candidates: [] };
  const rows = [...candidates.filter((row) => row.score !== null), ...candidates.filter((row) => row.score === null)];
  const shown = showing.candidate ?? thought.move;
  const lines = !hidden && rows.some((row) => row.line.length > 1); // a line says what the player is to do
  return html`${by === "drafts" ? changeView(thought) : nothing}
    <table class="tree ${by}">
      <caption class="hidden">
        ${CAPTIONS[by]}
      </caption>
      <thead>
        <tr>
          <th scope="col" rowspan="2">Move</th>
          ${groupsOf(COLUMNS[by]).map(([group, count]) => html`<th scope="colgroup" colspan=${count}>${group}</th>`)}
          ${lines ? html`<th scope="col" rowspan="2" class="line">${by === "drafts" ? "Draft" : "Line"}</th>` : nothing}
        </tr>
        <tr>
          ${COLUMNS[by].map((column) => html`<th scope="col" title=${column.title}>${column.head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => rowView(row, by, thought, showing, row.uci === shown, lines))}
      </tbody>
    </table>`;
}

/** The groups of columns, and how many columns each has. */
const groupsOf = (columns: Column[]): [string, number][] =>
  [...new Set(columns.map(({ group }) => group))].map((group) => [
    group,
    columns.filter((column) => column.group === group).length,
  ]);

/** Whether the drafts changed the move, and whether another one was drawn. */
function changeView({ look_ahead, candidates, move, san }: Thought): TemplateResult | typeof nothing {
  const [first] = [...(look_ahead?.candidates ?? [])].sort((one, other) => other.prior - one.prior);
  const [last] = candidates; // of all moves, also of those that were not drafted
  if (!first || !last) return nothing;
  return html`<p class="change">
    ${first.uci === last.uci
      ? html`The first look and the drafts agree on <b>${first.san}</b>.`
      : html`At the first look <b>${first.san}</b>; after the drafts <b>${last.san}</b>.`}
    ${last.uci === move ? nothing : html`Its strength drew <b>${san}</b>.`}
  </p>`;
}

function rowView(
  row: RootCandidate,
  by: "search" | "drafts",
  thought: Thought,
  showing: Showing,
  shown: boolean,
  lines: boolean,
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
    ${lines ? html`<td class="line">${row.line.slice(1).map((step) => step.san).join(" ")}</td>` : nothing}
  </tr>`;
}
