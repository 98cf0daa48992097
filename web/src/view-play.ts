// The game: players and board, moves, controls, and beside it what the agent expects.

import { html, nothing, type TemplateResult } from "lit-html";
import type { Side } from "./api";
import { askToResign, mayOfferDraw, offerDraw } from "./ending";
import * as game from "./game";
import { answer, dropPremove, imagine, move } from "./moves";
import { cardOf, expectationHidden, expectations, gameOver, humanToMove, mayImagine, shownPly, shownThought } from "./select";
import type { PlayState } from "./state";
import { changed, state } from "./store";
import { gameBoard } from "./view-board";
import { movesView } from "./view-moves";
import { button } from "./view-parts";
import { playerView } from "./view-player";
import { reviewView } from "./view-review";
import { figuresView, headlineView, thoughtView } from "./view-thought";

export function playView(): TemplateResult {
  const play = state.play;
  const bottom: Side = play.flipped ? "black" : "white";
  const top: Side = play.flipped ? "white" : "black";
  return html`<main class="play game">
    <section class="table" aria-label="Game">
      ${playerView(play, top)} ${gameBoard(play, bottom)} ${playerView(play, bottom)}
    </section>
    ${controlsView(play)}
    <div class="side">
      <div class="record">${reviewView(play)} ${movesView(play)}</div>
      ${thoughtCard(play, bottom)}
    </div>
  </main>`;
}

function controlsView(play: PlayState): TemplateResult {
  const none = !play.game.moves.length;
  return html`<div class="controls">
    <div class="row">
      ${button("New game", () => openNew(), { main: true, hint: "n" })}
      ${button("Take back", game.takeBack, { off: none, hint: "u" })} ${button("Flip", game.flip, { hint: "f" })}
      ${button("Offer draw", offerDraw, { off: !mayOfferDraw(play) })}
      ${button("Resign", askToResign, { off: gameOver(play) || none })}
      ${play.stalled ? button("Ask again", () => void answer(), { main: true }) : nothing}
      ${play.premove ? button(`Cancel premove ${play.premove.from} to ${play.premove.to}`, dropPremove) : nothing}
    </div>
    ${offerView(play)}
    <form class="row type" @submit=${typed}>
      <label for="typed" class="hidden">Type a move</label>
      <input id="typed" name="move" autocomplete="off" spellcheck="false" placeholder="Type a move: e4, Nf3" />
      ${button("Imagine here", () => void imagine(), { off: !mayImagine(play), hint: "i" })}
    </form>
  </div>`;
}

function offerView(play: PlayState): TemplateResult | typeof nothing {
  const name = cardOf(state, play.opponent.agent)?.name ?? "The agent";
  if (play.offer === "none" || gameOver(play)) return nothing;
  return html`<p class="offer">
    ${play.offer === "made" ? "Your draw offer goes with your next move." : `${name} declines the draw.`}
  </p>`;
}

/** A move that is typed before the position is there waits for it. */
async function typed(event: SubmitEvent): Promise<void> {
  event.preventDefault();
  await game.whenSettled();
  const field = (event.target as HTMLFormElement).elements.namedItem("move") as HTMLInputElement;
  const text = field.value.trim();
  const plain = (san: string): string => san.replace(/[+#=x]/g, "");
  const legal = humanToMove(state.play) ? (state.play.position?.legal ?? []) : [];
  const found =
    legal.find((each) => each.san === text || each.uci === text) ?? legal.find((each) => plain(each.san) === plain(text));
  if (found) void move(found.uci);
  else state.problem = `${text || "Nothing"} is not a legal move here.`;
  if (found) field.value = "";
  changed();
}

export function openNew(): void {
  const human = state.play.human === "both" ? "white" : state.play.human;
  state.dialog = { kind: "new", human, opponent: { ...state.play.opponent }, time: { ...state.time } };
  changed();
}

function thoughtCard(play: PlayState, orientation: Side): TemplateResult {
  const shown = shownThought(play);
  const card = cardOf(state, shown?.thought.agent ?? play.opponent.agent);
  const name = card?.name ?? "the agent";
  const hidden = expectationHidden(play, state.settings.expectation);
  return html`<section class="card thought-card" aria-label="What it expects" aria-busy=${play.thinking}>
    <h2>What ${name} expects</h2>
    ${shown
      ? html`${headlineView(shown.thought)} ${expectedView(play)}
          ${thoughtView({ thought: shown.thought, showing: play.showing, orientation, label: name, hidden, ahead: shown.ahead })}
          ${hidden && shown.thought.line.length > 1 ? hiddenView(play) : nothing} ${figuresView(shown.thought)}`
      : html`<p class="empty">
          ${card?.state === "loading"
            ? "The network is being loaded. You can move already: the answer comes when it is there."
            : play.thinking
              ? "Thinking …"
              : gameOver(play)
                ? "The agent has not thought about this position."
                : "Make a move, or press “Imagine here”: the moves it weighs and the line it expects appear here."}
        </p>`}
  </section>`;
}

const hiddenView = (play: PlayState): TemplateResult =>
  html`<p class="hidden-line">
    <span class="quiet">What it expects of you is hidden until you have moved.</span>
    ${button("Show it now", () => {
      play.revealed = shownPly(play);
      changed();
    })}
  </p>`;

/** After the player's move: was it what the agent had expected? */
function expectedView(play: PlayState): TemplateResult | typeof nothing {
  const all = expectations(play);
  const ply = shownPly(play);
  // The player's move is the last one on the board, or the one before the agent's answer.
  const latest = all.filter((each) => each.ply === ply - 1 || each.ply === ply - 2).at(-1);
  if (!latest) return nothing;
  const before = all.filter((each) => each.ply < ply);
  const san = play.position?.history[latest.ply]?.san ?? latest.played;
  return html`<p class="expected ${latest.hit ? "hit" : "miss"}">
    ${latest.hit
      ? html`<span aria-hidden="true">✓</span> <span>You played <b>${san}</b>, as it expected</span>`
      : html`<span aria-hidden="true">✗</span> <span>You played <b>${san}</b>; it expected <b>${latest.expected}</b></span>`}
    <span class="quiet">${before.filter((each) => each.hit).length} of ${before.length} expected</span>
  </p>`;
}
