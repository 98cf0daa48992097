// Against a bare king: which moves make progress towards mate, by a measure made by hand (agents/bare_king.py).
// The network gives all positions with a queen or a rook more about the same value. The measure is a weighted sum of the
// squares that the bare king can reach, the distance of the kings, and the bare king's distance from edge and corner;
// smaller is better.

import { attacks, kingAttacks } from "chessops/attacks";
import { SquareSet } from "chessops/squareSet";
import type { Color, Square } from "chessops/types";
import { opposite, parseSquare, squareFile, squareRank } from "chessops/util";
import type { Board } from "../rules/board";
import { outcome } from "../rules/outcome";

const CORNERS: Square[] = [0, 7, 56, 63];
const LOST = 1e6; // measure of a position in which the winner has no safe move
const MATED = -1e6;

/** Of the parts of the measure. */
interface Weights {
  reach: number; // each square that the bare king can reach
  kings: number; // distance of the kings in king's moves
  lines: number; // the same in files plus ranks
  edge: number;
  corner: number; // distance in king's moves plus that in files and ranks
}

const HEAVY: Weights = { reach: 1, kings: 2, lines: 0.5, edge: 1, corner: 0 };
const BISHOPS: Weights = { reach: 0.3, kings: 1, lines: 0.5, edge: 0, corner: 2 };

/** Whether the other side has only its king, and the side to move has a queen, a rook or bishops of both colours. */
export function facesBareKing(board: Board): boolean {
  const { board: men, turn } = board.position;
  if (men[opposite(turn)].size() > 1) return false;
  const bishops = men.pieces(turn, "bishop");
  const pair = bishops.intersects(SquareSet.lightSquares()) && bishops.intersects(SquareSet.darkSquares());
  return pair || isHeavy(board, turn);
}

/** The moves that mate; else those that make most progress and neither draw, repeat nor lose a piece; maybe none. */
export function progressing(board: Board, moves: readonly string[]): string[] {
  const judge = isHeavy(board, board.turn) ? afterReply : afterNextMove;
  const mates: string[] = [];
  const found = new Map<string, number>();
  for (const move of moves) {
    const after = board.push(move);
    const end = outcome(after);
    if (end === "mated") mates.push(move);
    const repeats = after.clock >= 4 && after.occurrences() >= 2;
    if (end === null && !repeats && isSafe(after)) found.set(move, judge(after));
  }
  if (mates.length) return mates;
  const least = Math.min(...found.values());
  return [...found].filter(([, worth]) => worth <= least + 1e-9).map(([move]) => move);
}

function isHeavy({ position: { board } }: Board, colour: Color): boolean {
  return board.queen.union(board.rook).intersects(board[colour]);
}

/** Whether the bare king, to move, has a move and takes nothing. */
function isSafe(board: Board): boolean {
  const { occupied } = board.position.board;
  return board.legal.length > 0 && !board.legal.some((reply) => occupied.has(parseSquare(reply.slice(2, 4))!));
}

/** The measure now and after the worst reply, 7 : 3. */
function afterReply(board: Board): number {
  const winner = opposite(board.turn);
  const worst = Math.max(0, ...board.legal.map((reply) => measure(board.push(reply), winner)));
  return 0.7 * measure(board, winner) + 0.3 * worst;
}

/** The least measure that the winner can reach by the next move, after the worst reply. */
function afterNextMove(board: Board): number {
  const winner = opposite(board.turn);
  const bestAfter = (reply: string): number => {
    const replied = board.push(reply);
    let best = LOST;
    for (const move of replied.legal) {
      const after = replied.push(move);
      if (isSafe(after)) best = Math.min(best, measure(after, winner));
      else if (after.position.isCheckmate()) best = MATED;
    }
    return best;
  };
  return Math.max(MATED, ...board.legal.map(bestAfter));
}

/** How far the bare king is from mate; smaller is nearer. */
export function measure(board: Board, winner: Color): number {
  const weights = isHeavy(board, winner) ? HEAVY : BISHOPS;
  const men = board.position.board;
  const [mine, theirs] = [men.kingOf(winner)!, men.kingOf(opposite(winner))!];
  const [file, rank] = [squareFile(theirs), squareRank(theirs)];
  return (
    weights.reach * reachable(board, winner, theirs).size() +
    weights.kings * steps(mine, theirs) +
    weights.lines * lines(mine, theirs) +
    weights.edge * Math.min(file, 7 - file, rank, 7 - rank) +
    weights.corner * Math.min(...CORNERS.map((one) => steps(theirs, one) + lines(theirs, one)))
  );
}

/** The squares that a bare king reaches by any number of moves, if nothing else moves. */
function reachable({ position: { board } }: Board, winner: Color, king: Square): SquareSet {
  const occupied = board.occupied.without(king); // it does not shade the squares behind it
  let attacked = SquareSet.empty();
  for (const square of board[winner]) attacked = attacked.union(attacks(board.get(square)!, square, occupied));
  let reached = SquareSet.fromSquare(king);
  const open = [king];
  while (open.length) {
    const further = kingAttacks(open.pop()!).diff(attacked).diff(reached);
    reached = reached.union(further);
    open.push(...further);
  }
  return reached;
}

/** Distance in king's moves. */
const steps = (a: Square, b: Square): number =>
  Math.max(Math.abs(squareFile(a) - squareFile(b)), Math.abs(squareRank(a) - squareRank(b)));

/** Distance in files plus ranks. */
const lines = (a: Square, b: Square): number =>
  Math.abs(squareFile(a) - squareFile(b)) + Math.abs(squareRank(a) - squareRank(b));
