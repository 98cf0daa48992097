// Players without a network: random and greedy-material.

import type { Role } from "chessops/types";
import { opposite, parseSquare } from "chessops/util";
import type { Board } from "../rules/board";
import { valueAfter } from "../rules/outcome";
import { choose } from "./chance";
import { timed, type Agent, type Decision } from "./decision";

const WORTH: Record<Role, number> = { pawn: 100, knight: 300, bishop: 300, rook: 500, queen: 900, king: 0 };
const PROMOTED: Record<string, Role> = { n: "knight", b: "bishop", r: "rook", q: "queen" };
const SLOPE = 0.00368208; // of win probability over centipawns

/** Every legal move alike. */
export const random: Agent = {
  decide: (boards) =>
    timed(boards, async () => boards.map((board) => drawn(board, new Map(board.legal.map((move) => [move, 0]))))),
};

/** Mates if it can, else takes or promotes to the most material, one ply deep; draws lots among equals. */
export const greedy: Agent = {
  decide: (boards) =>
    timed(boards, async () =>
      boards.map((board) => {
        const have = balance(board);
        const valued = board.legal.map((move): [string, number] => {
          const won = 1 / (1 + Math.exp(-SLOPE * (have + gain(board, move))));
          return [move, valueAfter(board, move) ?? won];
        });
        return drawn(board, new Map(valued), true);
      }),
    ),
};

/** A move drawn from those with the highest value. */
function drawn(board: Board, values: Map<string, number>, known = false): Omit<Decision, "seconds"> {
  const best = Math.max(...values.values());
  const equals = [...values.values()].filter((value) => value === best).length;
  const shares = new Map([...values].map(([move, value]) => [move, value === best ? 1 / equals : 0]));
  const move = choose(shares, 1, board);
  const value = known ? values.get(move)! : null;
  return { move, shares, line: [move], value, evaluations: 0, imagination: null, lookAhead: null };
}

/** Material of the side to move minus the other's, in centipawns. */
function balance({ position: { board, turn } }: Board): number {
  let total = 0;
  for (const [role, worth] of Object.entries(WORTH) as [Role, number][])
    total += worth * (board.pieces(turn, role).size() - board.pieces(opposite(turn), role).size());
  return total;
}

/** What a legal move wins at once: the piece taken plus the piece promoted to. */
function gain({ position: { board, turn, epSquare } }: Board, move: string): number {
  const [from, to] = [parseSquare(move.slice(0, 2))!, parseSquare(move.slice(2, 4))!];
  const won = move[4] ? WORTH[PROMOTED[move[4]]!] - WORTH.pawn : 0;
  const taken = board.get(to);
  if (taken && taken.color !== turn) return won + WORTH[taken.role];
  return board.pawn.has(from) && to === epSquare ? won + WORTH.pawn : won;
}
