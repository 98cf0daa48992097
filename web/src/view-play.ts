// The game: board, players, moves, and beside it what the agent foresaw.

import { html, nothing, type TemplateResult } from "lit-html";
import type { LegalMove, Position, Side } from "./api";
import { arrowsOf, boardView } from "./boards";
import * as game from "./game";
import {
  cardOf,
  expectations,
  gameOver,
  humanToMove,
  shownFen,
  shownFrame,
  shownPly,
  shownThought,
  type PlayState,
} from "./state";
import { changed, state } from "./store";
import { button, toggle } from "./view-parts";
import { figuresView, headlineView, thoughtView } from "./view-thought";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

export function playView(): TemplateResult {
  const play = state.play;
  const bottom: Side = play.flipped ? "black" : "white";
  const top: Side = play.flipped ? "white" : "black";
  return html`<main class="play">
    <section class="table" aria-label="Game">
      ${playerView(play, top)} ${gameBoard(play, bottom)} ${playerView(play, bottom)} ${controlsView(play)}
    </section>
    <div class="side">${foresightView(play, bottom)} ${movesView(play)}</div>
  </main>`;
}

function gameBoard(play: PlayState, orientation: Side): TemplateResult {
  const shown = shownThought(play);
  const live = play.cursor === null && !gameOver(play) && humanToMove(play) && !play.pending && !play.thinking;
  const frame = shown && play.showing.frame !== null ? shownFrame(shown.thought, play.showing) : null;
  const ply = shownPly(play);
  const last = ply ? play.position?.history[ply - 1] : undefined;
  const drawn = shown && (shown.ahead || play.thoughts[ply] === shown.thought);
  return boardView({
    id: "board",
    fen: shownFen(play) ?? START,
    orientation,
    turn: play.human === "both" ? play.position?.turn : play.human,
    legal: live ? (play.position?.legal ?? []) : [],
    hold: play.pending,
    marks: marksOf(last?.uci, ply === play.game.moves.length ? play.position?.check : last?.check),
    arrows: state.arrows && drawn ? arrowsOf(shown.thought.line, frame?.moves ?? null, shown.ahead ? 1 : 0) : [],
    onMove: (from, to) => chooseMove(play.position, from, to, (uci) => void game.move(uci)),
  });
}

export function marksOf(last: string | undefined, check: string | null | undefined): Record<string, string> {
  const marks: Record<string, string> = {};
  if (last) for (const square of [last.slice(0, 2), last.slice(2, 4)]) marks[square] = "last";
  if (check) marks[check] = "check";
  return marks;
}

/** The legal move between two squares; with several (promotions) the player is asked. */
export function chooseMove(position: Position | null, from: string, to: string, play: (uci: string) => void): void {
  const options: LegalMove[] = position?.legal.filter((move) => move.source === from && move.target === to) ?? [];
  if (options.length === 1) return play(options[0]!.uci);
  if (options.length > 1 && position) {
    const choose = (uci: string | null): void => {
      state.dialog = null;
      if (uci) play(uci);
      changed();
    };
    state.dialog = { kind: "promotion", side: position.turn, from, to, choose };
  }
  changed(); // without a legal move the piece goes back
}

function playerView(play: PlayState, side: Side): TemplateResult {
  const card = cardOf(state, play.opponent.agent);
  const agent = play.human !== "both" && play.human !== side;
  const turn = !gameOver(play) && play.position?.turn === side;
  const level = agent && card && card.levels.length > 1 ? card.levels[play.opponent.level] : null;
  return html`<div class="player ${turn ? "turn" : ""}">
    <span class="chip ${side}" aria-hidden="true"></span>
    <strong>${play.human === "both" && !play.names[side] ? (side === "white" ? "White" : "Black") : game.nameOf(side)}</strong>
    ${level ? html`<span class="quiet">${level}</span>` : nothing}
    <span class="status">${agent && play.thinking ? html`<span class="dots">imagining</span>` : turn ? "to move" : ""}</span>
  </div>`;
}

function controlsView(play: PlayState): TemplateResult {
  const none = !play.game.moves.length;
  return html`<div class="controls">
    <div class="row">
      ${button("New game", () => openNew(), { main: true, hint: "n" })}
      ${button("Take back", game.takeBack, { off: none, hint: "u" })} ${button("Flip", game.flip, { hint: "f" })}
      ${button("Resign", game.resign, { off: gameOver(play) })}
      ${play.stalled ? button("Ask again", () => void game.answer(), { main: true }) : nothing}
    </div>
    <form class="row type" @submit=${typed}>
      <label for="typed" class="hidden">Type a move</label>
      <input id="typed" name="move" autocomplete="off" spellcheck="false" placeholder="Type a move: e4, Nf3" />
      ${button("Imagine here", () => void game.imagine(), { off: gameOver(play) || play.thinking, hint: "i" })}
    </form>
  </div>`;
}

function typed(event: SubmitEvent): void {
  event.preventDefault();
  const field = (event.target as HTMLFormElement).elements.namedItem("move") as HTMLInputElement;
  const text = field.value.trim();
  const plain = (san: string): string => san.replace(/[+#=x]/g, "");
  const legal = humanToMove(state.play) ? (state.play.position?.legal ?? []) : [];
  const found =
    legal.find((move) => move.san === text || move.uci === text) ?? legal.find((move) => plain(move.san) === plain(text));
  if (found) void game.move(found.uci);
  else state.problem = `${text || "Nothing"} is not a legal move here.`;
  if (found) field.value = "";
  changed();
}

export function openNew(): void {
  const human = state.play.human === "both" ? "white" : state.play.human;
  state.dialog = { kind: "new", human, opponent: { ...state.play.opponent } };
  changed();
}

function foresightView(play: PlayState, orientation: Side): TemplateResult {
  const shown = shownThought(play);
  const name = cardOf(state, shown?.thought.agent ?? play.opponent.agent)?.name ?? "the agent";
  return html`<section class="card foresight" aria-label="What it foresaw" aria-busy=${play.thinking}>
    <header>
      <h2>What ${name} foresaw</h2>
      ${toggle("Arrows", state.arrows, (on) => {
        state.arrows = on;
        changed();
      })}
    </header>
    ${shown
      ? html`${headlineView(shown.thought)}
          ${expectedView(play)} ${thoughtView(shown.thought, play.showing, orientation, name)}
          ${figuresView(shown.thought)}`
      : html`<p class="empty">
          ${play.thinking
            ? "Imagining …"
            : "Make a move, or press “Imagine here”: the moves it weighs and the future it sees appear here."}
        </p>`}
  </section>`;
}

/** After the player's move: was it what the agent had expected? */
function expectedView(play: PlayState): TemplateResult | typeof nothing {
  const all = expectations(play);
  const ply = shownPly(play);
  // The player's move is the last one on the board, or the one before the agent's answer.
  const latest = all.filter((each) => each.ply === ply - 1 || each.ply === ply - 2).at(-1);
  if (!latest) return nothing;
  const hits = all.filter((each) => each.ply < ply && each.hit).length;
  const count = all.filter((each) => each.ply < ply).length;
  const san = play.position?.history[latest.ply]?.san ?? latest.played;
  return html`<p class="expected ${latest.hit ? "hit" : "miss"}">
    ${latest.hit
      ? html`<span aria-hidden="true">✓</span> <span>You played <b>${san}</b>, as it expected</span>`
      : html`<span aria-hidden="true">✗</span> <span>You played <b>${san}</b>; it expected <b>${latest.expected}</b></span>`}
    <span class="quiet">${hits} of ${count} foreseen</span>
  </p>`;
}

function movesView(play: PlayState): TemplateResult {
  const history = play.position?.history ?? [];
  const ply = shownPly(play);
  const number = Number(play.position?.start.split(" ")[5] ?? 1);
  const blackFirst = play.position?.start.split(" ")[1] === "b";
  const offset = blackFirst ? 1 : 0;
  return html`<section class="card moves" aria-label="Moves">
    <header>
      <h2>Moves</h2>
      <nav aria-label="Browse the game">
        ${browseButton("«", "First position", 0, ply === 0)} ${browseButton("‹", "One back", ply - 1, ply === 0)}
        ${browseButton("›", "One on", ply + 1, ply === history.length)}
        ${browseButton("»", "Last position", history.length, ply === history.length)}
      </nav>
    </header>
    ${history.length
      ? html`<ol class="list">
          ${history.map((move, index) => {
            const white = (index + offset) % 2 === 0;
            const label = white ? `${number + (index + offset) / 2}.` : index === 0 ? `${number}…` : "";
            return html`<li class=${white ? "white" : "black"}>
              ${label ? html`<span class="quiet">${label}</span>` : nothing}
              <button
                type="button"
                class="move ${index + 1 === ply ? "here" : ""}"
                aria-current=${index + 1 === ply ? "step" : nothing}
                @click=${() => game.browse(index + 1)}
              >
                ${move.san}
              </button>
            </li>`;
          })}
        </ol>`
      : html`<p class="empty">No moves yet.</p>`}
    ${resultView(play)}
    <div class="row">
      ${button("Paste FEN or PGN", () => {
        state.dialog = { kind: "paste", text: "", human: "both", problem: null };
        changed();
      })}
      ${button("Download PGN", () => void game.download())} ${button("Share link", game.share)}
    </div>
  </section>`;
}

const browseButton = (sign: string, label: string, ply: number, off: boolean): TemplateResult =>
  html`<button type="button" class="icon" aria-label=${label} ?disabled=${off} @click=${() => game.browse(ply)}>
    ${sign}
  </button>`;

function resultView(play: PlayState): TemplateResult | typeof nothing {
  const { result } = play.position ?? {};
  if (result) return html`<p class="result"><strong>${result.score.replaceAll("1/2", "½")}</strong> ${result.reason}</p>`;
  if (play.resigned) {
    return html`<p class="result">
      <strong>${play.resigned === "white" ? "0-1" : "1-0"}</strong> ${play.resigned === "white" ? "White" : "Black"} resigned
    </p>`;
  }
  return nothing;
}
