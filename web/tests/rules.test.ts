// Rules: boards, ends of games, and what is wrong with positions.

import { parseFen } from "chessops/fen";
import { describe, expect, it } from "vitest";
import { Board } from "../src/engine/rules/board";
import { positionOf } from "../src/engine/rules/fen";
import { outcome, resultOf, valueAfter } from "../src/engine/rules/outcome";
import { problemOf } from "../src/engine/rules/problems";
import { played } from "./mock";

describe("boards", () => {
  it("write castling as the king's step and keep the history", () => {
    const board = positionOf("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    expect(board.legal).toContain("e1g1");
    expect(board.legal).toContain("e1c1");
    expect(board.legal).not.toContain("e1h1");
    const after = board.push("e1g1");
    expect(after.fen).toBe("r3k2r/8/8/8/8/8/8/R4RK1 b kq - 1 1");
    expect(after.played).toEqual(["e1g1"]);
    expect(board.played).toEqual([]);
  });

  it("name an en-passant square only where taking is legal", () => {
    expect(played("e2e4").fen).toBe("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    expect(played("e2e4 a7a6 e4e5 d7d5").fen).toContain(" d6 0 3");
  });

  it("have 20, 400, 8902 moves in the first plies", () => {
    const count = (board: Board, depth: number): number =>
      depth === 1 ? board.legal.length : board.legal.reduce((sum, uci) => sum + count(board.push(uci), depth - 1), 0);
    expect([1, 2, 3].map((depth) => count(Board.initial(), depth))).toEqual([20, 400, 8902]);
  });
});

describe("the end of a game", () => {
  const shuffle = "g1f3 g8f6 f3g1 f6g8 ";
  it.each([
    ["f2f3 e7e5 g2g4 d8h4", "0-1", "checkmate"],
    [shuffle.repeat(2), "1/2-1/2", "threefold repetition"],
    [shuffle.repeat(4), "1/2-1/2", "fivefold repetition"],
  ])("after %s", (moves, score, reason) => {
    expect(resultOf(played(moves))).toEqual({ score, reason });
  });

  it.each([
    ["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "stalemate"],
    ["7k/8/6K1/8/8/8/8/6B1 w - - 0 1", "insufficient material"],
    ["7k/8/6K1/8/8/8/8/R7 w - - 100 90", "fifty-move rule"],
    ["7k/8/6K1/8/8/8/8/R7 w - - 150 90", "seventy-five-move rule"],
  ])("in %s", (fen, reason) => {
    expect(resultOf(positionOf(fen))?.reason).toBe(reason);
    expect(outcome(positionOf(fen))).toBe("drawn");
  });

  it("a mate on the hundredth half-move is a mate", () => {
    expect(valueAfter(positionOf("7k/8/6K1/8/8/8/8/R7 w - - 99 90"), "a1a8")).toBe(1);
    expect(valueAfter(positionOf("7k/8/6K1/8/8/8/8/R7 w - - 99 90"), "a1a7")).toBe(0.5);
    expect(valueAfter(Board.initial(), "e2e4")).toBeNull();
  });
});

describe("problems of positions", () => {
  const problem = (fen: string): string | null => problemOf(parseFen(fen).unwrap());
  it.each([
    ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", null],
    ["8/8/8/8/8/8/8/K7 w - - 0 1", "Black has no king"],
    ["k7/8/8/8/8/8/8/KK6 w - - 0 1", "there are too many kings"],
    ["kP6/8/8/8/8/8/8/K7 w - - 0 1", "a pawn stands on the first or last rank"],
    ["k7/8/8/8/8/8/8/4K3 w K - 0 1", "castling rights without king and rook at home"],
    ["k7/8/8/8/8/8/8/K7 w - e6 0 1", "no pawn can be taken en passant there"],
    ["k7/8/8/8/8/8/8/R3K3 w - - 0 1", "the side that is not to move is in check"],
    ["4k3/8/5N2/8/1B6/8/4R3/4K3 b - - 0 1", null],
    ["4k3/8/3N1N2/8/8/8/4R3/4K3 b - - 0 1", "more than two pieces give check; the checks cannot have come about"],
    ["4k3/4R3/8/8/8/8/4Q3/K7 b - - 0 1", null],
    ["R3k2R/8/8/8/8/8/8/K7 b - - 0 1", "the checks cannot have come about"],
  ])("of %s", (fen, words) => {
    expect(problem(fen)).toBe(words);
  });

  it("are sentences for the player", () => {
    expect(() => positionOf("nonsense")).toThrow("is not a FEN");
    expect(() => positionOf("8/8/8/8/8/8/8/K7 w - - 0 1")).toThrow("is not a playable position: Black has no king.");
  });
});
