// The settings: how the page looks and sounds, and what it shows.

import { html, type TemplateResult } from "lit-html";
import { BOARDS, PIECES, THEMES, type Settings } from "./settings";
import { changed, state } from "./store";
import { button, toggle } from "./view-parts";

const SWITCHES: [keyof Settings, string][] = [
  ["sound", "Sounds"],
  ["arrows", "Arrows of the line on the board"],
  ["bar", "Evaluation bar"],
  ["expectation", "Show what it expects of me before I move"],
];

export function settingsView(close: () => void): TemplateResult {
  return html`<h2 id="dialog-title">Settings</h2>
    ${choiceView("theme", "Theme", THEMES)} ${choiceView("board", "Board", BOARDS)}
    ${choiceView("pieces", "Pieces", PIECES)}
    <div class="switches">
      ${SWITCHES.map(([key, label]) => toggle(label, state.settings[key] as boolean, (on) => set(key, on)))}
    </div>
    <div class="row end">${button("Done", close, { main: true })}</div>`;
}

function set(key: keyof Settings, value: string | boolean): void {
  Object.assign(state.settings, { [key]: value });
  changed();
}

function choiceView(key: "theme" | "board" | "pieces", legend: string, choices: readonly string[]): TemplateResult {
  return html`<fieldset class="sides">
    <legend>${legend}</legend>
    ${choices.map(
      (choice) => html`<label
        ><input
          type="radio"
          name=${key}
          .checked=${state.settings[key] === choice}
          @change=${() => set(key, choice)}
        /><span>${choice[0]!.toUpperCase() + choice.slice(1)}</span></label
      >`,
    )}
  </fieldset>`;
}
