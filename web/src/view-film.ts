// The film of the denoising as it was recorded: a slider over its steps.

import { html, type TemplateResult } from "lit-html";
import type { Thought } from "./api";
import { run, seek } from "./film";
import type { Showing } from "./state";

export function filmView(thought: Thought, showing: Showing, label: string): TemplateResult {
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
