// The dialogs: new game, paste, share, resign, promotion. Native <dialog>: focus and Escape are the browser's.

import { html, nothing, type TemplateResult } from "lit-html";
import { resign } from "./ending";
import * as game from "./game";
import { miniPiece } from "./pieces";
import { dropWork } from "./moves";
import { copy } from "./share";
import type { Dialog, Human, TimeControl } from "./state";
import { changed, state } from "./store";
import { button, opponentPicker } from "./view-parts";
import { settingsView } from "./view-settings";

export function dialogView(): TemplateResult {
  const dialog = state.dialog;
  return html`<dialog id="dialog" aria-labelledby="dialog-title" @close=${closed} @cancel=${closed}>
    ${dialog ? contentView(dialog) : nothing}
  </dialog>`;
}

/** Open or close the element as the state says; after each drawing. */
export function syncDialog(): void {
  const element = document.getElementById("dialog") as HTMLDialogElement;
  if (state.dialog && !element.open) element.showModal();
  if (!state.dialog && element.open) element.close();
}

function closed(): void {
  const dialog = state.dialog;
  state.dialog = null;
  if (dialog?.kind === "promotion") dialog.choose(null);
  changed();
}

function close(): void {
  state.dialog = null;
  changed();
}

function contentView(dialog: Dialog): TemplateResult {
  switch (dialog.kind) {
    case "new":
      return newView(dialog);
    case "paste":
      return pasteView(dialog);
    case "share":
      return shareView(dialog);
    case "settings":
      return settingsView(close);
    case "resign":
      return resignView();
    case "promotion":
      return promotionView(dialog);
  }
}

type Choice = Human | "random";

const NEW_SIDES: [Choice, string][] = [
  ["white", "White"],
  ["black", "Black"],
  ["random", "Random"],
  ["both", "Both"],
];

function sidesView(dialog: { human: Choice }, sides: [Choice, string][]): TemplateResult {
  const choose = (side: Choice) => (): void => {
    dialog.human = side;
    changed();
  };
  return html`<fieldset class="sides">
    <legend>You play</legend>
    ${sides.map(
      ([side, label]) => html`<label
        ><input type="radio" name="side" .checked=${dialog.human === side} @change=${choose(side)} /><span
          >${label}</span
        ></label
      >`,
    )}
  </fieldset>`;
}

function newView(dialog: Extract<Dialog, { kind: "new" }>): TemplateResult {
  return html`<h2 id="dialog-title">New game</h2>
    ${sidesView(dialog, NEW_SIDES)}
    ${opponentPicker(dialog.opponent, "new", (opponent) => {
      dialog.opponent = opponent;
    })}
    ${timeView(dialog)}
    <div class="row end">
      ${button("Cancel", close)}
      ${button(
        "Start",
        () => {
          close();
          game.newGame(dialog.human, dialog.opponent, dialog.time);
        },
        { main: true },
      )}
    </div>`;
}

const TIMES: [string, TimeControl][] = [
  ["No clock", { minutes: 0, increment: 0 }],
  ["1 minute + 1 second a move", { minutes: 1, increment: 1 }],
  ["3 minutes + 2 seconds a move", { minutes: 3, increment: 2 }],
  ["5 minutes", { minutes: 5, increment: 0 }],
  ["10 minutes + 5 seconds a move", { minutes: 10, increment: 5 }],
  ["30 minutes", { minutes: 30, increment: 0 }],
];

function timeView(dialog: { time: TimeControl }): TemplateResult {
  const same = (time: TimeControl): boolean =>
    time.minutes === dialog.time.minutes && time.increment === dialog.time.increment;
  const choose = (event: Event): void => {
    dialog.time = { ...TIMES[Number((event.target as HTMLSelectElement).value)]![1] };
    changed();
  };
  return html`<div class="picker">
    <label for="time">Clock</label>
    <select id="time" @change=${choose}>
      ${TIMES.map(([label, time], index) => html`<option value=${index} ?selected=${same(time)}>${label}</option>`)}
    </select>
  </div>`;
}

function resignView(): TemplateResult {
  return html`<h2 id="dialog-title">Resign this game?</h2>
    <p class="quiet">The game ends and your opponent wins.</p>
    <div class="row end">
      ${button("Play on", close)}
      ${button(
        "Resign",
        () => {
          close();
          dropWork();
          resign();
        },
        { main: true },
      )}
    </div>`;
}

function pasteView(dialog: Extract<Dialog, { kind: "paste" }>): TemplateResult {
  const go = async (): Promise<void> => {
    if (await game.paste(dialog.text, dialog.human)) return close();
    dialog.problem = state.problem;
    state.problem = null;
    changed();
  };
  return html`<h2 id="dialog-title">Paste a FEN or a PGN</h2>
    <label for="pasted" class="hidden">FEN or PGN</label>
    <textarea
      id="pasted"
      rows="8"
      spellcheck="false"
      .value=${dialog.text}
      aria-invalid=${dialog.problem !== null}
      aria-describedby="paste-problem"
      @input=${(event: Event) => {
        dialog.text = (event.target as HTMLTextAreaElement).value;
      }}
    ></textarea>
    ${sidesView(
      dialog,
      NEW_SIDES.filter(([side]) => side !== "random"),
    )}
    <p id="paste-problem" class="problem" role="alert">${dialog.problem ?? ""}</p>
    <div class="row end">${button("Cancel", close)} ${button("Set up", () => void go(), { main: true })}</div>`;
}

function shareView(dialog: Extract<Dialog, { kind: "share" }>): TemplateResult {
  const copyButton = (id: "link" | "fen", label: string) =>
    button(dialog.copied === id ? "Copied" : label, () => void copy(id), { main: true });
  return html`<h2 id="dialog-title">Share this position</h2>
    <p class="quiet">Whoever opens this link on a running DiffuSearch finds the game as it stands here.</p>
    <div class="row type">
      <label for="link" class="hidden">Link</label>
      <input id="link" readonly .value=${dialog.link} /> ${copyButton("link", "Copy link")}
    </div>
    <div class="row type">
      <label for="fen" class="hidden">FEN</label>
      <input id="fen" readonly .value=${dialog.fen} /> ${copyButton("fen", "Copy FEN")}
    </div>
    <div class="row end">${button("Close", close)}</div>`;
}

const CHOICES = { q: "Queen", r: "Rook", b: "Bishop", n: "Knight" } as const;

function promotionView(dialog: Extract<Dialog, { kind: "promotion" }>): TemplateResult {
  return html`<h2 id="dialog-title">Promote to</h2>
    <div class="promotion">
      ${Object.entries(CHOICES).map(
        ([letter, name]) => html`<button
          type="button"
          aria-label=${name}
          @click=${() => dialog.choose(dialog.from + dialog.to + letter)}
        >
          ${miniPiece(letter, dialog.side)}
        </button>`,
      )}
    </div>`;
}
