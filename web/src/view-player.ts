// One player's line above or below the board: name, strength, what was captured, the clock.

import { html, nothing, type TemplateResult } from "lit-html";
import type { Side } from "./api";
import { clockText, timeLeft } from "./clock";
import { capturedBy } from "./material";
import { cardOf, gameOver, nameOf, shownFen, sideName, strengthOf } from "./select";
import type { PlayState } from "./state";
import { state } from "./store";

export function playerView(play: PlayState, side: Side): TemplateResult {
  const agent = play.human !== "both" && play.human !== side;
  const turn = !gameOver(play) && play.position?.turn === side;
  const level = agent ? cardOf(state, play.opponent.agent)?.levels[play.opponent.level] : undefined;
  const title = level?.rating
    ? `${level.label}; measured in games against Stockfish's UCI_Elo levels, 95 % between ${level.rating.low} and ${level.rating.high}`
    : nothing;
  return html`<div class="player ${turn ? "turn" : ""}">
    <span class="chip ${side}" aria-hidden="true"></span>
    <strong>${play.human === "both" && !play.names[side] ? sideName(side) : nameOf(state, side)}</strong>
    ${level ? html`<span class="quiet" title=${title}>${strengthOf(level)}</span>` : nothing}
    ${capturedView(side, shownFen(play))}
    <span class="status">${agent ? agentStatus(play, turn) : turn ? "to move" : ""}</span>
    ${clockView(play, side, turn)}
  </div>`;
}

function agentStatus(play: PlayState, turn: boolean): TemplateResult | string {
  const card = cardOf(state, play.opponent.agent);
  if (!card) return state.agents.length ? "nobody can play here" : html`<span class="dots">asking who can play</span>`;
  if (card.state === "problem") return "cannot play here";
  if (card.state === "loading") return html`<span class="dots">loading the network</span>`;
  return play.thinking ? html`<span class="dots">thinking</span>` : turn ? "to move" : "";
}

function capturedView(side: Side, fen: string): TemplateResult | typeof nothing {
  const { glyphs, words, ahead } = capturedBy(side, fen);
  if (!glyphs && !ahead) return nothing;
  return html`<span class="captured">
    <span aria-hidden="true">${glyphs}</span>
    <span class="hidden">captured: ${words || "nothing"}${ahead ? `, ${ahead} ahead` : ""}</span>
    ${ahead ? html`<span class="quiet" aria-hidden="true">+${ahead}</span>` : nothing}
  </span>`;
}

function clockView(play: PlayState, side: Side, turn: boolean): TemplateResult | typeof nothing {
  if (!play.clock) return nothing;
  const left = timeLeft(play.clock, side);
  return html`<span
    class="clock ${turn && play.clock.since ? "running" : ""} ${left < 20_000 ? "low" : ""}"
    role="timer"
    aria-label="${sideName(side)}'s clock"
    >${clockText(left)}</span
  >`;
}
