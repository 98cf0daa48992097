// The searched tree at its root: each move with the network's prior, its value at one look, what the search made of it.

import { html, nothing, type TemplateResult } from "lit-html";
import type { SearchedMove, Thought } from "./api";
import { percent } from "./select";
import type { Showing } from "./state";
import { changed } from "./store";
import { shareText } from "./view-thought";

export function searchView(thought: Thought, showing: Showing, hidden: boolean): TemplateResult {
  const all = thought.search?.candidates ?? [];
  const rows = [...all.filter((row) => row.score !== null), ...all.filter((row) => row.score === null)];
  const shown = showing.candidate ?? thought.move;
  return html`<table class="tree">
    <caption class="hidden">
      Searched moves
    </caption>
    <thead>
      <tr>
        <th scope="col">Move</th>
        <th scope="col" title="The network's probability before the search">Prior</th>
        <th scope="col" title="Win chance after the move, at one look">One look</th>
        <th scope="col" title="Win chance after the move, as the search made it">Searched</th>
        ${hidden ? nothing : html`<th scope="col" class="line">Line</th>`}
      </tr>
    </thead>
    <tbody>
      ${rows.map((row) => rowView(row, thought, showing, row.uci === shown, hidden))}
    </tbody>
  </table>`;
}

function rowView(
  row: SearchedMove,
  thought: Thought,
  showing: Showing,
  shown: boolean,
  hidden: boolean,
): TemplateResult {
  const choose = (): void => {
    showing.candidate = row.uci;
    changed();
  };
  const chance = (value: number | null): string => (value === null ? "–" : percent(value));
  return html`<tr class="${row.uci === thought.move ? "chosen" : ""} ${shown ? "shown" : ""}">
    <th scope="row">
      <button type="button" class="san" aria-pressed=${shown} title="Show its line on the board" @click=${choose}>
        ${row.san}
      </button>
    </th>
    <td>${shareText(row.prior)}</td>
    <td>${chance(row.value)}</td>
    <td class="score">
      ${row.score === null ? nothing : html`<span class="share-bar"><span style="width:${(100 * row.score).toFixed(1)}%"></span></span>`}
      ${chance(row.score)}
    </td>
    ${hidden ? nothing : html`<td class="line">${row.line.slice(1).map((step) => step.san).join(" ")}</td>`}
  </tr>`;
}
