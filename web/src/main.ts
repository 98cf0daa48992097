// The page begins here: fetch who can be played, restore the game, and draw the state whenever it changes.

import { html, nothing, render } from "lit-html";
import { api } from "./api";
import { syncBoards } from "./boards";
import * as game from "./game";
import { restore } from "./keep";
import { openCompare, openPuzzles } from "./rivals";
import { shownPly, type Mode, type Opponent } from "./state";
import { attempt, changed, drawWith, state } from "./store";
import "./style/base.css";
import "./style/frame.css";
import "./style/boards.css";
import "./style/thought.css";
import "./style/rivals.css";
import "./style/small-screens.css";
import { dialogView, syncDialog } from "./view-dialogs";
import { toggle } from "./view-parts";
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
      ${toggle("Sounds", state.sound, (on) => {
        state.sound = on;
        changed();
      })}
    </header>
    ${state.problem ? html`<p class="problem banner" role="alert">${state.problem}</p>` : nothing}
    ${state.mode === "play" ? playView() : state.mode === "compare" ? compareView() : puzzlesView()}
    <footer>
      <p>
        Keys: <kbd>←</kbd> <kbd>→</kbd> browse, <kbd>n</kbd> new game, <kbd>u</kbd> take back, <kbd>f</kbd> flip,
        <kbd>i</kbd> imagine here. On the board: <kbd>Tab</kbd>, arrow keys, <kbd>Enter</kbd>. Pieces by Colin M.L. Burnett;
        <a href="./licences.txt">licences</a>.
      </p>
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
    i: () => void game.imagine(),
    ...(onBoard ? {} : { ArrowLeft: () => game.browse(ply - 1), ArrowRight: () => game.browse(ply + 1) }),
  };
  const act = acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

/** The first agent that can play here; agents of the last visit are kept if they still can. */
function settle(kept: Opponent, choice: number): Opponent {
  const able = state.agents.filter((card) => card.problem === null);
  const card = able.find((each) => each.id === kept.agent) ?? able[choice] ?? able[0];
  if (!card) return kept;
  const level = card.id === kept.agent ? Math.min(kept.level, card.levels.length - 1) : card.default;
  return { agent: card.id, level };
}

async function begin(): Promise<void> {
  restore(state);
  const root = document.getElementById("page")!;
  drawWith(() => {
    render(page(), root);
    syncBoards();
    syncDialog();
    followMoves();
  });
  changed();
  document.addEventListener("keydown", keys);
  window.addEventListener("hashchange", () => void game.open());
  // The board is there at once; finding out who can play may take seconds (weights are loaded).
  const opened = game.open();
  await attempt(async () => void (state.agents = await api.agents()));
  state.play.opponent = settle(state.play.opponent, 0);
  state.puzzles.opponent = settle(state.puzzles.opponent, 0);
  state.compare.sides.forEach((side, index) => (side.opponent = settle(side.opponent, index)));
  await opened;
  void game.answer();
  changed();
}

void begin();
