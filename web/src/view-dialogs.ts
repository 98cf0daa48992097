// The dialogs: new game, paste, share, promotion. Native <dialog>: focus and Escape are the browser's.

import { html, nothing, type TemplateResult } from "lit-html";
import * as game from "./game";
import { miniPiece } from "./pieces";
import type { Dialog, Human } from "./state";
import { changed, state } from "./store";
import { button, opponentPicker } from "./view-parts";

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
    case "promotion":
      return promotionView(dialog);
  }
}

const SIDES: [Human, string][] = [
  ["white", "White"],
  ["black", "Black"],
  ["both", "Both"],
];

function sidesView(dialog: { human: Human }): TemplateResult {
  const choose = (side: Human) => (): void => {
    dialog.human = side;
    changed();
  };
  return html`<fieldset class="sides">
    <legend>You play</legend>
    ${SIDES.map(
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
    ${sidesView(dialog)}
    ${opponentPicker(dialog.opponent, "new", (opponent) => {
      dialog.opponent = opponent;
    })}
    <div class="row end">
      ${button("Cancel", close)}
      ${button(
        "Start",
        () => {
          close();
          game.newGame(dialog.human, dialog.opponent);
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
    ${sidesView(dialog)}
    <p id="paste-problem" class="problem" role="alert">${dialog.problem ?? ""}</p>
    <div class="row end">${button("Cancel", close)} ${button("Set up", () => void go(), { main: true })}</div>`;
}

function shareView(dialog: Extract<Dialog, { kind: "share" }>): TemplateResult {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(dialog.link);
      dialog.copied = true;
    } catch {
      (document.getElementById("link") as HTMLInputElement).select(); // no permission: ready to be copied by hand
    }
    changed();
  };
  return html`<h2 id="dialog-title">Share this position</h2>
    <p class="quiet">Whoever opens this link on a running DiffuSearch finds the game as it stands here.</p>
    <label for="link" class="hidden">Link</label>
    <input id="link" readonly .value=${dialog.link} />
    <div class="row end">
      ${button("Close", close)} ${button(dialog.copied ? "Copied" : "Copy", () => void copy(), { main: true })}
    </div>`;
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
