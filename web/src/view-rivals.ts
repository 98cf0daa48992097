// Two agents side by side on one position, and puzzles solved against one of them.

import { html, nothing, type TemplateResult } from "lit-html";
import type { Side, Thought } from "./api";
import { arrowsOf, arrowsOfSteps, boardView, showOnly, type Arrow } from "./boards";
import { cardOf, shownCandidate, shownFrame } from "./select";
import { START_RATING, type ComparedAgent, type Showing } from "./state";
import { state } from "./store";
import { compareBoth, giveUp, nextPuzzle, ratingKey, tryMove } from "./rivals";
import { button, opponentPicker } from "./view-parts";
import { chooseMove, marksOf } from "./view-board";
import { figuresView, headlineView, thoughtView } from "./view-thought";

export function compareView(): TemplateResult {
  const { position, sides } = state.compare;
  const over = !position || position.result !== null;
  const busy = sides.some((side) => side.thinking);
  const agreed = sides[0].thought && sides[1].thought && sides[0].thought.move === sides[1].thought.move;
  return html`<main class="compare">
    <div class="card intro">
      <p>
        Two agents on the position of your game${position ? html` (${position.turn === "white" ? "White" : "Black"} to move)` : nothing}.
        ${over ? "The game is over here: browse back to an earlier move." : nothing}
        ${sides[0].thought && sides[1].thought
          ? html`<strong>${agreed ? "They agree on the move." : "They would play different moves."}</strong>`
          : nothing}
      </p>
      ${button(busy ? "Thinking …" : "Compare", () => void compareBoth(), { main: true, off: over || busy })}
    </div>
    <div class="pair">${sides.map((side, index) => sideView(side, index))}</div>
  </main>`;
}

function sideView(side: ComparedAgent, index: number): TemplateResult {
  const { position } = state.compare;
  const orientation: Side = state.play.flipped ? "black" : "white";
  const thought = side.thought;
  const name = cardOf(state, side.opponent.agent)?.name ?? "";
  return html`<section class="card" aria-label=${index ? "Right agent" : "Left agent"} aria-busy=${side.thinking}>
    ${opponentPicker(side.opponent, `compare-${index}`, (opponent) => {
      Object.assign(side, { opponent, thought: null });
    })}
    ${position
      ? boardView({
          ...showOnly,
          id: `compare-${index}`,
          fen: position.fen,
          orientation,
          marks: marksOf(position.history.at(-1)?.uci, position.check),
          arrows: thought ? lineArrows(thought, side.showing) : [],
        })
      : nothing}
    ${thought
      ? html`${headlineView(thought)}
          ${thoughtView({ thought, showing: side.showing, orientation, label: name, hidden: false, ahead: false })}
          ${figuresView(thought)}`
      : html`<p class="empty">${side.thinking ? "Thinking …" : "Press “Compare”."}</p>`}
  </section>`;
}

export function puzzlesView(): TemplateResult {
  const puzzles = state.puzzles;
  const puzzle = puzzles.current;
  const orientation: Side = puzzle?.turn ?? "white";
  const open = puzzles.outcome === "open";
  return html`<main class="play">
    <section class="table" aria-label="Puzzle">
      <div class="player">
        <strong>${puzzle ? `Puzzle ${puzzle.id + 1} of ${puzzles.list.length}` : "Puzzles"}</strong>
        <span class="quiet">${puzzle ? `about ${puzzle.rating}` : ""}</span>
      </div>
      ${boardView({
        id: "puzzle",
        fen: puzzles.position?.fen ?? puzzle?.fen ?? "8/8/8/8/8/8/8/8 w - - 0 1",
        orientation,
        turn: puzzles.position ? puzzle?.turn : undefined, // its legal moves are known
        targets: (from) =>
          open && !puzzles.pending
            ? (puzzles.position?.legal ?? []).filter((move) => move.source === from).map((move) => move.target)
            : [],
        hold: puzzles.pending,
        marks: marksOf(puzzles.moves.at(-1), puzzles.position?.check),
        arrows: attemptArrows(),
        onMove: (from, to) => chooseMove(puzzles.position, from, to, (uci) => void tryMove(uci)),
      })}
      <div class="controls">
        <div class="row">
          ${button("Next puzzle", () => void nextPuzzle(), { main: !open, off: open })}
          ${button("Give up", () => void giveUp(), { off: !open })}
        </div>
      </div>
    </section>
    <div class="side">
      <section class="card" aria-label="Task">
        <h2>${taskOf()}</h2>
        ${puzzles.solution ? html`<p>The solution: <strong>${puzzles.solution.join(" ")}</strong></p>` : nothing}
        <dl class="ratings">
          <div><dt>You</dt><dd>${puzzles.rating}</dd></div>
          <div>
            <dt>${cardOf(state, puzzles.opponent.agent)?.name ?? "Agent"}</dt>
            <dd>${puzzles.agentRatings[ratingKey()] ?? START_RATING}</dd>
          </div>
        </dl>
        <p class="quiet">
          Each puzzle has one winning move at every turn. Your rating and the agent’s change with each puzzle; a puzzle’s own
          rating is estimated from how deep Stockfish must look.
        </p>
        ${opponentPicker(puzzles.opponent, "puzzle", (opponent) => {
          puzzles.opponent = opponent;
        })}
      </section>
      ${attemptView(orientation)}
    </div>
  </main>`;
}

/** The agent's line fits the board only while the puzzle stands at its start. */
function attemptArrows(): Arrow[] {
  const { attempt, moves, showing } = state.puzzles;
  if (!attempt || moves.length) return [];
  return lineArrows(attempt.thought, showing);
}

function lineArrows(thought: Thought, showing: Showing): Arrow[] {
  const candidate = shownCandidate(thought, showing);
  if (candidate) return arrowsOfSteps(candidate.line, 0, Infinity);
  return arrowsOf(thought.line, shownFrame(thought, showing)?.moves ?? null, 0);
}

function taskOf(): string {
  const { current, outcome, moves, pending } = state.puzzles;
  if (!current) return "Loading …";
  const side = current.turn === "white" ? "White" : "Black";
  if (outcome === "solved") return "Solved!";
  if (outcome === "failed") return "Not this time.";
  if (moves.length) return pending ? "Right." : "Right. And now?";
  return `${side} to move and win`;
}

function attemptView(orientation: Side): TemplateResult | typeof nothing {
  const { attempt, attempting, opponent, showing } = state.puzzles;
  const name = cardOf(state, opponent.agent)?.name ?? "The agent";
  if (attempting) return html`<section class="card" aria-busy="true"><p class="empty">${name} tries it too …</p></section>`;
  if (!attempt) return nothing;
  return html`<section class="card thought-card" aria-label="The agent's attempt">
    <p class="expected ${attempt.solved ? "hit" : "miss"}">
      <span aria-hidden="true">${attempt.solved ? "✓" : "✗"}</span>
      <span>${name} ${attempt.solved ? "solved it" : "missed it"} with <b>${attempt.moves.join(", ")}</b></span>
    </p>
    ${thoughtView({ thought: attempt.thought, showing, orientation, label: name, hidden: false, ahead: false })}
    ${figuresView(attempt.thought)}
  </section>`;
}
