// A decision as the page shows it (play/thoughts.py).

import type { Candidate, FilmFrame, LinePly, RootCandidate, Step, Thought } from "../../api-types";
import type { Candidate as RootMove, Decision } from "../agents/decision";
import type { Imagination, Ply } from "../imagination";
import { share } from "../numbers";
import type { Board } from "../rules/board";

const CANDIDATES = 6; // moves shown
const LONGEST = 8; // plies of a line that are shown
const [ACCEPTS_BELOW, BALANCED_BELOW, BALANCED_FROM] = [0.45, 0.55, 40]; // draw offers

export function thoughtOf(agent: string, board: Board, decision: Decision, drawOffered: boolean): Thought {
  const { imagination, move, value } = decision;
  const weighed = [...decision.shares].filter(([each, own]) => own > 0 || each === move);
  return {
    agent,
    root: board.fen,
    turn: board.turn,
    move,
    san: board.san(move),
    candidates: candidates(board, weighed),
    line: imagination ? predictedLine(board, imagination) : trueLine(board, decision.line),
    film: imagination ? film(board, imagination) : [],
    look_ahead: decision.lookAhead && {
      by: decision.lookAhead.by,
      candidates: decision.lookAhead.candidates.map((one) => rootCandidate(board, one)),
    },
    value: value === null ? null : share(value),
    legal_mass: imagination?.legalMass == null ? null : share(imagination.legalMass),
    steps: imagination ? imagination.steps : null,
    evaluations: decision.evaluations,
    seconds: decision.seconds,
    imagined: imagination !== null,
    draw_accepted: drawOffered ? acceptsDraw(board, value) : null,
  };
}

/** Whether the side to move, with this win probability, accepts a draw; without a value it declines. */
export function acceptsDraw(board: Board, value: number | null): boolean {
  if (value === null) return false;
  return value <= ACCEPTS_BELOW || (value <= BALANCED_BELOW && board.number >= BALANCED_FROM);
}

/** Moves with their SAN, as far as they are legal one after the other. */
export function namedLine(board: Board, line: string[]): Step[] {
  const out: Step[] = [];
  let replay = board.alone();
  for (const uci of line) {
    if (out.length === LONGEST || !replay.isLegal(uci)) break;
    out.push({ uci, san: replay.san(uci) });
    replay = replay.push(uci);
  }
  return out;
}

function candidates(board: Board, shares: [string, number][]): Candidate[] {
  const best = [...shares].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, CANDIDATES);
  return best.map(([uci, own]) => ({ uci, san: board.san(uci), probability: share(own) }));
}

function trueLine(board: Board, line: string[]): LinePly[] {
  let replay = board.alone();
  return line.slice(0, LONGEST).map((uci) => {
    const san = replay.san(uci);
    replay = replay.push(uci);
    return { uci, san, legal: true, squares: replay.squares(), wrong: [], problem: null };
  });
}

/** The plies up to the end of the game: behind it there is nothing to show. */
function played({ line }: Imagination): Ply[] {
  const end = line.findIndex((ply) => ply.move === null);
  return end < 0 ? line : line.slice(0, end);
}

/** Each move is named in the position before it, predicted as well. */
function predictedLine(board: Board, imagination: Imagination): LinePly[] {
  let before: Board | null = board;
  return played(imagination).map((ply) => {
    const san = ply.legal && before?.isLegal(ply.move!) ? before.san(ply.move!) : null;
    before = ply.board;
    const { move, legal, squares, wrong, problem } = ply;
    return { uci: move!, san, legal, squares, wrong, problem };
  });
}

/** The recorded frames, without the places behind the end of the game. */
function film(board: Board, imagination: Imagination): FilmFrame[] {
  const shown = played(imagination).length;
  return imagination.film.map((frame) => ({
    step: frame.step,
    moves: frame.moves.slice(0, shown),
    squares: frame.squares.slice(0, shown),
    confidence: frame.confidence.slice(0, shown).map((one) => one.map(share)),
    candidates: candidates(board, [...frame.probabilities].filter(([, own]) => own > 0)),
  }));
}

function rootCandidate(board: Board, one: RootMove): RootCandidate {
  return {
    uci: one.move,
    san: board.san(one.move),
    prior: share(one.prior),
    value: one.value === null ? null : share(one.value),
    score: one.score === null ? null : share(one.score),
    probability: one.probability === null ? null : share(one.probability),
    line: namedLine(board, one.line),
  };
}
