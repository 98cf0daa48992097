// Tokens: moves, rows and the layout of a record.

import { describe, expect, it } from "vitest";
import { positionOf } from "../src/engine/rules/fen";
import { actionStart, masked, members, SIZES, targets, variables } from "../src/engine/tokens/layout";
import { idMove, moveId, MOVES, NONE } from "../src/engine/tokens/moves";
import { boardRow, CLOCK, EN_PASSANT, rowBoard } from "../src/engine/tokens/states";
import { squaresOf } from "../src/engine/diffusion/reading";
import { played } from "./mock";

describe("moves", () => {
  it("are 1968, each named once, and turned twice they are themselves", () => {
    expect(NONE).toBe(1968);
    expect(new Set(MOVES).size).toBe(1968);
    expect(idMove(moveId("e7e8q", true), false)).toBe("e2e1q");
    for (const uci of MOVES) expect(idMove(moveId(uci, true), true)).toBe(uci);
  });
});

describe("states", () => {
  it.each([
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/8/8/3pP3/8/8/8/R3K2R w Qk d6 0 9",
    "r3k2r/8/8/8/3pP3/8/8/R3K2R b Kq e3 0 9",
    "8/5k2/8/8/8/8/1K6/8 b - - 77 99",
  ])("%s survives the way into a row and back, seen by either side", (fen) => {
    const board = positionOf(fen);
    for (const mover of ["white", "black"] as const) {
      const row = boardRow(board, mover);
      const back = rowBoard(row, mover, board.number);
      expect(typeof back === "string" ? back : back.fen).toBe(fen);
      expect(squaresOf(row, mover === "black")).toBe(board.squares());
    }
  });

  it("say why a row is no position", () => {
    const row = boardRow(played("e2e4"), "white");
    row[4] = 0;
    expect(rowBoard(row, "white", 1)).toBe("White has no king; castling rights without king and rook at home");
    const other = boardRow(played("e2e4"), "white");
    other[EN_PASSANT] = 5; // nobody can take
    expect(rowBoard(other, "white", 1)).toBe("no pawn can be taken en passant there");
  });

  it("hold the clock at 255", () => {
    expect(boardRow(positionOf("8/5k2/8/8/8/8/1K6/8 b - - 300 199"), "white")[CLOCK]).toBe(255);
  });
});

describe("the layout", () => {
  it("has 276 variables at horizon 4, of which 208 are predicted", () => {
    expect([variables(4), targets(4)]).toEqual([276, 208]);
    expect(members("action", 4)).toEqual([68, 137, 206, 275]);
    expect(members("square", 2)).toHaveLength(64);
  });

  it("masks a variable with the size of its vocabulary", () => {
    const record = masked(boardRow(played(""), "white"), 2);
    expect(record[actionStart(0)]).toBe(SIZES.action);
    expect(record.slice(69, 73)).toEqual(Int32Array.from([13, 13, 13, 13]));
    expect(record[0]).toBe(4);
  });
});
