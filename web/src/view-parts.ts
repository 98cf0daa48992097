// Small parts that several views share.

import { html, nothing, type TemplateResult } from "lit-html";
import type { Level } from "./api";
import { cardOf, FLOOR, strengthOf } from "./select";
import type { Opponent } from "./state";
import { changed, state } from "./store";

const NOTES = { ready: "", loading: " (loading)", problem: " (not here)" };

/** The measured rating where there is one, with the interval that it lies in. */
function levelText(level: Level | undefined): string {
  if (!level) return "";
  const { rating, label } = level;
  if (!rating) return label;
  // Word joiners: the interval is not broken at its dash.
  const interval = rating.elo < FLOOR ? "" : ` (${rating.low}\u2060–\u2060${rating.high})`;
  return `${strengthOf(level)}${interval}, ${label}`;
}

/** Who plays, and how strong: a list and, where there is a choice, a slider whose label says what it means. */
export function opponentPicker(opponent: Opponent, id: string, pick: (opponent: Opponent) => void): TemplateResult {
  const card = cardOf(state, opponent.agent);
  const chooseAgent = (event: Event): void => {
    const agent = (event.target as HTMLSelectElement).value;
    pick({ agent, level: cardOf(state, agent)?.default ?? 0 });
    changed();
  };
  const chooseLevel = (event: Event): void => {
    pick({ ...opponent, level: Number((event.target as HTMLInputElement).value) });
    changed();
  };
  return html`<div class="picker">
    <label for="${id}-agent">Agent</label>
    <select id="${id}-agent" @change=${chooseAgent}>
      ${state.agents.map(
        (each) => html`<option
          value=${each.id}
          ?selected=${each.id === opponent.agent}
          ?disabled=${each.state === "problem"}
        >
          ${each.name}${NOTES[each.state]}
        </option>`,
      )}
    </select>
    ${card && card.levels.length > 1
      ? html`<label for="${id}-level">Strength</label>
          <div class="level">
            <input
              id="${id}-level"
              type="range"
              min="0"
              max=${card.levels.length - 1}
              .value=${String(opponent.level)}
              aria-valuetext=${levelText(card.levels[opponent.level])}
              @input=${chooseLevel}
            />
            <span>${levelText(card.levels[opponent.level])}</span>
          </div>`
      : nothing}
    ${card ? html`<p class="about">${card.problem ?? card.about}</p>` : nothing}
  </div>`;
}

export const button = (label: string, act: () => void, extra: { off?: boolean; main?: boolean; hint?: string } = {}) =>
  html`<button
    type="button"
    class=${extra.main ? "main" : ""}
    title=${extra.hint ?? nothing}
    ?disabled=${extra.off ?? false}
    @click=${act}
  >
    ${label}
  </button>`;

export const toggle = (label: string, on: boolean, act: (on: boolean) => void): TemplateResult =>
  html`<label class="toggle"
    ><input type="checkbox" .checked=${on} @change=${(event: Event) => act((event.target as HTMLInputElement).checked)} />
    ${label}</label
  >`;
