// King and pawn against king: the moves that keep the win, worked out by the rules (agents/king_and_pawn.py).
// From the pawn's promotion backwards, for each square of its file all places of both kings. Squares are seen by the side
// with the pawn, which moves up the board. Tables are indexed [64 * strong king + weak king].

import { kingAttacks, pawnAttacks } from "chessops/attacks";
import type { Square } from "chessops/types";
import { opposite, parseSquare, squareRank } from "chessops/util";
import type { Board } from "../rules/board";

const FAR = 999; // rounds: no win
const SQUARES: Square[] = [...Array(64).keys()];
const AROUND = SQUARES.map((square) => [...kingAttacks(square)]);

const isNear = (a: Square, b: Square): boolean => kingAttacks(a).has(b);

/** Whether the side to move has its king and one pawn, the other side only its king. */
export function isKingAndPawn({ position: { board, turn } }: Board): boolean {
  return board.occupied.size() === 3 && board.pieces(turn, "pawn").size() === 1;
}

/** The moves that keep the win and come nearest to it; empty where the ending is drawn. */
export function winning(board: Board, moves: readonly string[]): string[] {
  const rounds = moves.map((move) => roundsAfter(board, move));
  const least = Math.min(...rounds);
  return least < FAR ? moves.filter((_, at) => rounds[at] === least) : [];
}

/** How many rounds of working back lead to the position after a move; `FAR` where it is not won. */
function roundsAfter({ position: { board, turn } }: Board, move: string): number {
  const seen = (square: Square): Square => (turn === "white" ? square : square ^ 56);
  const [from, to] = [seen(parseSquare(move.slice(0, 2))!), seen(parseSquare(move.slice(2, 4))!)];
  const pawn = seen(board.pieces(turn, "pawn").first()!);
  const [mine, theirs] = [seen(board.kingOf(turn)!), seen(board.kingOf(opposite(turn))!)];
  if (from !== pawn) return solved(pawn)[64 * to + theirs]!;
  if (squareRank(to) === 7) return move[4] === "q" && staysPromoted(to, mine, theirs) ? -9 : FAR;
  // A pawn's move is the best progress: it counts before the king's moves, and the longer one first.
  return solved(to)[64 * mine + theirs]! < FAR ? pawn - to : FAR;
}

/** Whether a queen that arrives on a square stays on the board; stalemate is seen elsewhere, by the rules. */
const staysPromoted = (square: Square, strong: Square, weak: Square): boolean =>
  !isNear(square, weak) || isNear(square, strong);

const known = new Map<Square, Int16Array>();

/** With the weak side to move: the rounds after which its loss is known. */
function solved(pawn: Square): Int16Array {
  const kept = known.get(pawn);
  if (kept) return kept;
  const checks = pawnAttacks("white", pawn);
  const legal = table((s, w) => s !== w && !isNear(s, w) && s !== pawn && w !== pawn);
  // With the strong side to move; it cannot be its move while the pawn gives check.
  const pushed = pushes(pawn);
  const wins = table((s, w) => legal[64 * s + w] === 1 && !checks.has(w) && pushed(s, w));
  // Squares that the weak king may go to: neither the strong king nor the pawn attacks them. It may take the pawn.
  const free = table((s, to) => s !== to && !isNear(s, to) && !checks.has(to));
  const holds = table((s, w) => {
    const takes = isNear(pawn, w) && !isNear(pawn, s);
    return legal[64 * s + w] === 1 && !takes && AROUND[w]!.some((to) => free[64 * s + to]);
  });
  const rounds = new Int16Array(4096).fill(FAR);
  for (let number = 0; number < FAR; number += 1) {
    // Every square that the weak king can go to must be won for the side that then moves.
    const escapes = (s: Square, to: Square): boolean => !!free[64 * s + to] && !wins[64 * s + to] && to !== pawn;
    const lost = table((s, w) => !!holds[64 * s + w] && !AROUND[w]!.some((to) => escapes(s, to)));
    let changed = false;
    for (let at = 0; at < 4096; at += 1) {
      if (!lost[at] || rounds[at]! < FAR) continue;
      rounds[at] = number;
      changed = true;
    }
    if (!changed) break;
    // A move of the strong king to a place from which the other side loses.
    for (const s of SQUARES)
      for (const w of SQUARES)
        if (legal[64 * s + w] && !checks.has(w) && AROUND[s]!.some((to) => rounds[64 * to + w]! < FAR)) wins[64 * s + w] = 1;
  }
  known.set(pawn, rounds);
  return rounds;
}

/** With the strong side to move: whether moving the pawn wins. */
function pushes(pawn: Square): (strong: Square, weak: Square) => boolean {
  const [ahead, far] = [pawn + 8, pawn + 16];
  const isFree = (square: Square, s: Square, w: Square): boolean => s !== square && w !== square;
  if (squareRank(ahead) === 7) return (s, w) => isFree(ahead, s, w) && staysPromoted(ahead, s, w);
  const after = solved(ahead);
  const afterFar = squareRank(pawn) === 1 ? solved(far) : null;
  return (s, w) =>
    isFree(ahead, s, w) &&
    (after[64 * s + w]! < FAR || (afterFar !== null && isFree(far, s, w) && afterFar[64 * s + w]! < FAR));
}

/** 1 where a condition holds for both kings. */
function table(holds: (strong: Square, weak: Square) => boolean): Uint8Array {
  const out = new Uint8Array(4096);
  for (const s of SQUARES) for (const w of SQUARES) out[64 * s + w] = holds(s, w) ? 1 : 0;
  return out;
}
