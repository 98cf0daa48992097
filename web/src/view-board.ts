// The board of the game with its evaluation bar and, at the end, the banner over it.

import { html, nothing, type TemplateResult } from "lit-html";
import type { Position, Side } from "./api";
import { arrowsOf, arrowsOfSteps, boardView, focusBoard, type Arrow } from "./boards";
import * as game from "./game";
import { move, queueMove } from "./moves";
import { premoveTargets } from "./premove";
import { expectationHidden, gameOver, humanToMove, percent, resultOf, scoreWords } from "./select";
import { shownCandidate, shownFen, shownFrame, shownPly, shownThought, whiteChance } from "./select";
import type { PlayState } from "./state";
import { changed, state } from "./store";
import { button } from "./view-parts";
import { openReview } from "./view-review";

export function gameBoard(play: PlayState, orientation: Side): TemplateResult {
  const fen = shownFen(play);
  const ply = shownPly(play);
  const last = ply ? play.position?.history[ply - 1] : undefined;
  const open = play.cursor === null && !gameOver(play);
  // While the other side thinks, or a position is on its way, a move is queued.
  const queues = play.human !== "both" && (play.loading || (open && !humanToMove(play)));
  const live = open && humanToMove(play) && !play.pending && !queues;
  const side = play.human === "both" ? play.position?.turn : play.human;
  const targets = (from: string): string[] => {
    if (queues && side) return premoveTargets(fen, from, side);
    return live ? (play.position?.legal ?? []).filter((each) => each.source === from).map((each) => each.target) : [];
  };
  const marks = marksOf(last?.uci, ply === play.game.moves.length ? play.position?.check : last?.check);
  if (play.premove) for (const square of [play.premove.from, play.premove.to]) marks[square] = "premove";
  return html`<div class="board-row ${state.settings.bar ? "" : "bare"}">
    ${state.settings.bar ? barView(play, orientation) : nothing}
    ${boardView({
      id: "board",
      fen,
      orientation,
      turn: side,
      targets,
      hold: play.pending,
      marks,
      arrows: arrowsView(play),
      drawn: play.drawn,
      onMove: (from, to) => {
        if (queues) queueMove(from, to);
        else chooseMove(play.position, from, to, (uci) => void move(uci));
      },
    })}
    ${bannerView(play)}
  </div>`;
}

/** The agent's line, or in a review what it would have played instead of the next move. */
function arrowsView(play: PlayState): Arrow[] {
  if (!state.settings.arrows) return [];
  const reviewed = play.review?.moves[shownPly(play)];
  if (reviewed) {
    const missed = reviewed.uci !== reviewed.best.uci;
    const played: Arrow = { from: reviewed.uci.slice(0, 2), to: reviewed.uci.slice(2, 4), number: null, kind: "bad" };
    return [...(missed ? [played] : []), ...arrowsOfSteps(reviewed.line.slice(0, 1), 0, 1)];
  }
  const shown = shownThought(play);
  if (!shown) return [];
  const { thought, ahead } = shown;
  if (!ahead && play.thoughts[shownPly(play)] !== thought) return [];
  const most = expectationHidden(play, state.settings.expectation) ? 1 : Infinity;
  const candidate = shownCandidate(thought, play.showing);
  if (candidate) return ahead && candidate.uci !== thought.move ? [] : arrowsOfSteps(candidate.line, ahead ? 1 : 0, most);
  return arrowsOf(thought.line, shownFrame(thought, play.showing)?.moves ?? null, ahead ? 1 : 0, most);
}

export function marksOf(last: string | undefined, check: string | null | undefined): Record<string, string> {
  const marks: Record<string, string> = {};
  if (last) for (const square of [last.slice(0, 2), last.slice(2, 4)]) marks[square] = "last";
  if (check) marks[check] = "check";
  return marks;
}

/** The legal move between two squares; with several (promotions) the player is asked. */
export function chooseMove(position: Position | null, from: string, to: string, play: (uci: string) => void): void {
  const options = position?.legal.filter((each) => each.source === from && each.target === to) ?? [];
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

/** White's share of the bar is White's chance to win, by the last thought about the game. */
function barView(play: PlayState, orientation: Side): TemplateResult {
  const chance = whiteChance(play);
  const white = chance ?? 0.5;
  const words = chance === null ? "not judged yet" : `White ${percent(white)}, Black ${percent(1 - white)}`;
  return html`<div
    class="bar ${orientation} ${chance === null ? "unknown" : ""}"
    role="meter"
    aria-label="Win chance"
    aria-valuemin="0"
    aria-valuemax="100"
    aria-valuenow=${Math.round(100 * white)}
    aria-valuetext=${words}
    title=${words}
    style="--white:${(100 * white).toFixed(1)}%"
  >
    <span class="fill"></span>
    ${chance === null ? nothing : html`<span class="number-of" aria-hidden="true">${Math.round(100 * white)}</span>`}
  </div>`;
}

function bannerView(play: PlayState): TemplateResult | typeof nothing {
  const result = resultOf(play);
  if (!result || play.closed || play.cursor !== null) return nothing;
  const close = (): void => {
    play.closed = true;
    focusBoard("board");
    changed();
  };
  const again = (): void => {
    focusBoard("board");
    game.rematch();
  };
  return html`<section class="ending" aria-label="Result">
    <button type="button" class="icon close" aria-label="Close the result" @click=${close}>×</button>
    <p class="score">${outcomeOf(play, result.score)} <span class="quiet">${result.score.replaceAll("1/2", "½")}</span></p>
    <p>${result.reason}</p>
    <div class="row">
      ${button("Rematch", again, { main: true })}
      ${button("Review", openReview, { off: !play.game.moves.length })}
    </div>
  </section>`;
}

function outcomeOf(play: PlayState, score: "1-0" | "0-1" | "1/2-1/2"): string {
  if (play.human === "both" || score === "1/2-1/2") return scoreWords(score);
  return (score === "1-0") === (play.human === "white") ? "You win" : "You lose";
}

let shown: Element | null = null;

/** Bring the banner, and with it the board, into view once, when it appears. */
export function syncBanner(): void {
  const banner = document.querySelector(".ending");
  if (banner && banner !== shown) {
    const { top, bottom } = banner.getBoundingClientRect();
    if (top < 0 || bottom > window.innerHeight) banner.scrollIntoView({ block: "center" });
  }
  shown = banner;
}
