// The page begins here: fetch who can be played, restore the game, and draw the state whenever it changes.

import { html, nothing, render } from "lit-html";
import { meetAgents } from "./agents";
import { syncBoards } from "./boards";
import * as game from "./game";
import { restore } from "./keep";
import { answer, dropPremove, imagine } from "./moves";
import { loadOpenings } from "./openings";
import { addPieceStyles } from "./pieces";
import { openCompare, openPuzzles } from "./rivals";
import { shownPly } from "./select";
import { applySettings } from "./settings";
import type { Mode } from "./state";
import { changed, drawWith, state } from "./store";
import "./style/base.css";
import "./style/frame.css";
import "./style/boards.css";
import "./style/thought.css";
import "./style/players.css";
import "./style/game.css";
import "./style/review.css";
import "./style/rivals.css";
import "./style/small-screens.css";
import { dialogView, syncDialog } from "./view-dialogs";
import { syncBanner } from "./view-board";
import { button } from "./view-parts";
import { openNew, playView } from "./view-play";
import { compareView, puzzlesView } from "./view-rivals";

const MODES: [Mode, string][] = [
  ["play", "Play"],
  ["compare", "Compare"],
  ["puzzles", "Puzzles"],
];

function page() {
  return html`
    <header class="top">
      <h1>Diffu<span>Search</span></h1>
      <nav aria-label="Modes">
        ${MODES.map(
          ([mode, label]) => html`<button
            type="button"
            class=${state.mode === mode ? "here" : ""}
            aria-current=${state.mode === mode ? "page" : nothing}
            @click=${() => go(mode)}
          >
            ${label}
          </button>`,
        )}
      </nav>
      ${button("Settings", () => {
        state.dialog = { kind: "settings" };
        changed();
      })}
    </header>
    ${state.problem ? html`<p class="problem banner" role="alert">${state.problem}</p>` : nothing}
    ${state.mode === "play" ? playView() : state.mode === "compare" ? compareView() : puzzlesView()}
    <footer>
      <p class="keys">
        Keys: <kbd>←</kbd> <kbd>→</kbd> browse, <kbd>n</kbd> new game, <kbd>u</kbd> take back, <kbd>f</kbd> flip,
        <kbd>i</kbd> imagine here, <kbd>Esc</kbd> cancel a premove. On the board: <kbd>Tab</kbd>, arrow keys,
        <kbd>Enter</kbd>; arrows with the right mouse button.
      </p>
      <p>Classic pieces by Colin M.L. Burnett; <a href="./licences.txt">licences</a>.</p>
    </footer>
    <div class="hidden" role="status" aria-live="polite">${state.said}</div>
    ${dialogView()}
  `;
}

let followed = -1;

/** Keep the move that is on the board in sight, without touching a list that the player scrolled. */
function followMoves(): void {
  const ply = shownPly(state.play);
  const list = document.querySelector<HTMLElement>(".list");
  const here = list?.querySelector<HTMLElement>(".here");
  if (!list || ply === followed) return;
  followed = ply;
  list.scrollTop = here ? here.offsetTop - list.offsetTop - list.clientHeight / 2 : 0;
}

function go(mode: Mode): void {
  state.mode = mode;
  state.problem = null;
  if (mode === "compare") void openCompare();
  if (mode === "puzzles") void openPuzzles();
  changed();
}

function keys(event: KeyboardEvent): void {
  const target = event.composedPath()[0] as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || state.dialog || state.mode !== "play") return;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
  const onBoard = !!(event.target as HTMLElement).closest("g-chess-board");
  const ply = shownPly(state.play);
  const acts: Record<string, () => void> = {
    n: openNew,
    u: game.takeBack,
    f: game.flip,
    i: () => void imagine(),
    Escape: dropPremove,
    ...(onBoard ? {} : { ArrowLeft: () => game.browse(ply - 1), ArrowRight: () => game.browse(ply + 1) }),
  };
  const act = acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

async function begin(): Promise<void> {
  restore(state);
  addPieceStyles();
  const root = document.getElementById("page")!;
  drawWith(() => {
    applySettings(state.settings);
    render(page(), root);
    syncBoards();
    syncDialog();
    followMoves();
    syncBanner();
  });
  changed();
  document.addEventListener("keydown", keys);
  window.addEventListener("hashchange", () => void game.open());
  void loadOpenings();
  // Board and agents are there at once; networks are loaded meanwhile, and what is asked of them waits.
  await Promise.all([game.open(), meetAgents()]);
  void answer();
  changed();
}

void begin();
