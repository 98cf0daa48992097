// Answers in the shapes of the API: positions, PGN, thoughts, reviews, puzzles.

import { describe, expect, it } from "vitest";
import { boardsOf, describe as described, openBoard } from "../src/engine/answers/games";
import { pasted, pgnOf } from "../src/engine/answers/pgn";
import { attemptOf, puzzleCards, solutionSan, verdict } from "../src/engine/answers/puzzles";
import { reviewed, reviewOf } from "../src/engine/answers/review";
import { acceptsDraw, thoughtOf } from "../src/engine/answers/thoughts";
import { imagining } from "../src/engine/agents/imagining";
import { searching } from "../src/engine/agents/searching";
import { greedy, random } from "../src/engine/agents/simple";
import { SETTINGS } from "../src/engine/settings";
import { Run } from "../src/engine/run";
import { positionOf } from "../src/engine/rules/fen";
import { Mock, played } from "./mock";

const mate = { fen: null, moves: ["f2f3", "e7e5", "g2g4", "d8h4"] };
const search = () => searching(new Run(new Mock()), SETTINGS.search, 100, null);

describe("positions", () => {
  it("describe a game with its moves and its end", () => {
    const found = described(mate);
    expect(found.history.map(({ san }) => san)).toEqual(["f3", "e5", "g4", "Qh4#"]);
    expect(found).toMatchObject({ check: "e1", legal: [], turn: "white", result: { score: "0-1", reason: "checkmate" } });
    expect(described({ fen: null, moves: [] }).legal).toContainEqual({
      uci: "g1f3", source: "g1", target: "f3", promotion: null, san: "Nf3",
    });
  });
  it("refuse illegal moves and games that are over in a sentence", () => {
    expect(() => described({ fen: null, moves: ["e2e5"] })).toThrow("Move 1, e2e5, is not legal");
    expect(() => openBoard(mate)).toThrow("The game is over (checkmate)");
  });
});

describe("PGN", () => {
  it("goes out and comes in again", () => {
    const moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "e1g1"];
    const text = pgnOf({ fen: null, moves }, 'A "B"', "C", { resigned: "black" }, new Date(2026, 0, 2));
    expect(text).toContain('[White "A B"]');
    expect(text).toContain('[Date "2026.01.02"]');
    expect(text).toContain('[Termination "resignation"]');
    expect(text).toContain("4. O-O 1-0");
    expect(pasted(text)).toMatchObject({ moves, white: "A B", black: "C" });
  });
  it("keeps another start, and reads a FEN", () => {
    const fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    expect(pasted(pgnOf({ fen, moves: ["e2e4"] }, "a", "b", {}, new Date()))).toMatchObject({ fen, moves: ["e2e4"] });
    expect(pasted(fen)).toEqual({ fen, moves: [], white: null, black: null });
  });
  it.each([
    ["", "The text is empty"],
    ["hello there", "is neither a FEN nor a PGN"],
    ["1. e4 Qh4", "correct that move"],
    ['[Variant "Atomic"]\n\n1. e4 *', "only standard chess"],
  ])("refuses %s", (text, words) => {
    expect(() => pasted(text)).toThrow(words);
  });
});

describe("thoughts", () => {
  it("of the search name candidates, the tree and the predicted line", async () => {
    const board = played("e2e4");
    const [decision] = await search().decide([board]);
    const thought = thoughtOf("search", board, decision!, true);
    expect(thought.candidates).toHaveLength(6);
    expect(thought.look_ahead!.candidates[0]!.line[0]!.uci).toBe(thought.move);
    expect(thought).toMatchObject({ imagined: true, film: [], steps: 9, draw_accepted: false, root: board.fen });
    expect(thought.line.every((ply) => ply.legal && !ply.wrong.length)).toBe(true);
  });
  it("of joint denoising hold the film", async () => {
    const board = played("e2e4");
    const [decision] = await imagining(new Run(new Mock()), SETTINGS.imagining, 100, null, "plies").decide([board]);
    const thought = thoughtOf("denoising", board, decision!, false);
    expect(thought.film).toHaveLength(thought.steps! + 1);
    expect(thought).toMatchObject({ look_ahead: null, draw_accepted: null });
    expect(thought.film.at(-1)!.confidence[0]).toHaveLength(64);
  });
  it("of drafts name the drafted moves with their probabilities before and after", async () => {
    const board = positionOf("4k3/p1p5/3p4/8/8/3Q4/PP6/4K3 w - - 0 1");
    const [decision] = await imagining(new Run(new Mock()), SETTINGS.imagining, 100, null).decide([board]);
    const thought = thoughtOf("diffusearch", board, decision!, false);
    const { by, candidates } = thought.look_ahead!;
    expect([by, candidates.length, candidates[0]!.uci]).toEqual(["drafts", 6, thought.move]);
    const taking = candidates.find(({ uci }) => uci === "d3d6")!;
    expect(taking.prior).toBeGreaterThan(taking.probability!);
    expect(taking.line.map(({ san }) => san).slice(0, 2)).toEqual(["Qxd6", "cxd6"]);
    expect(thought).toMatchObject({ imagined: true, film: [], value: candidates[0]!.score });
    expect(thought.line.every((ply) => ply.legal && !ply.wrong.length)).toBe(true);
  });
  it("of one look have the true board", async () => {
    const board = played("");
    const [decision] = await searching(new Run(new Mock()), SETTINGS.search, 100, 1).decide([board]);
    const thought = thoughtOf("search", board, decision!, false);
    expect(thought).toMatchObject({ imagined: false, steps: null, evaluations: 1 });
    expect(thought.line).toHaveLength(1);
  });
  it("answer draw offers by the value", () => {
    const late = positionOf("4k3/8/8/8/8/8/4P3/4K3 w - - 0 40");
    expect([acceptsDraw(played(""), 0.45), acceptsDraw(played(""), 0.5), acceptsDraw(late, 0.5), acceptsDraw(late, null)]).toEqual([true, false, true, false]);
  });
});

describe("agents", () => {
  it("that are ahead avoid repetitions", async () => {
    const fen = "k7/8/8/8/8/8/3Q4/3K4 w - - 0 1";
    const board = boardsOf({ fen, moves: ["d2e2", "a8b8", "e2d2", "b8a8"] }).at(-1)!;
    const [decision] = await search().decide([board]);
    expect([...decision!.shares.keys()]).not.toContain("d2e2");
  });
  it("below full strength draw their moves, the same in the same game", async () => {
    const weak = searching(new Run(new Mock()), SETTINGS.search, 20, null);
    const boards = ["", "e2e4", "d2d4", "c2c4", "g1f3", "b1c3", "a2a3", "h2h3"].map(played);
    const found = (await weak.decide(boards)).map(({ move }) => move);
    expect((await weak.decide(boards)).map(({ move }) => move)).toEqual(found);
    const best = (await weak.decide(boards)).map(({ shares }) => [...shares.keys()][0]);
    expect(found).not.toEqual(best);
    const drawn = await imagining(new Run(new Mock()), SETTINGS.imagining, 20, null).decide(boards);
    drawn.forEach(({ move, imagination }) => expect(imagination!.line[0]!.move).toBe(move));
  });
  it("without a network take what they can, or anything", async () => {
    const board = positionOf("4k3/8/8/3q1r2/4P3/8/8/4K3 w - - 0 1");
    expect((await greedy.decide([board]))[0]).toMatchObject({ move: "e4d5" });
    expect((await greedy.decide([positionOf("7k/8/6K1/8/8/8/8/R3n3 w - - 0 1")]))[0]!.move).toBe("a1a8");
    expect((await random.decide([board]))[0]?.value).toBeNull();
  });
});

describe("reviews", () => {
  it("give White's value after each move and what it cost", async () => {
    const boards = boardsOf({ fen: null, moves: [...mate.moves.slice(0, 3), "d8h4"] });
    const found = await reviewOf("search", search(), 2, reviewed(boards, 2, 2));
    expect(found.moves.map(({ ply, side }) => [ply, side])).toEqual([[2, "white"], [3, "black"]]);
    expect(found.moves[1]).toMatchObject({ white_value: 0, loss: 0, san: "Qh4#" });
    await expect(reviewOf("random", random, 0, boards)).rejects.toThrow("gives no values");
    expect(() => reviewed(boards, 9, 2)).toThrow("none to review from 9");
  });
});

describe("puzzles", () => {
  const puzzle = { fen: "6k1/5ppp/8/8/8/8/8/R3R1K1 w - - 0 1", solution: "a1a8", rating: 700 };
  const longer = { fen: "7k/R7/8/8/8/8/8/1R4K1 w - - 0 1", solution: "b1b8", rating: 600 };
  it("are shown without their solutions and judged move by move", () => {
    expect(puzzleCards([puzzle])[0]).toEqual({ id: 0, fen: puzzle.fen, turn: "white", rating: 700, length: 1 });
    expect(verdict(puzzle, ["a1a8"])).toEqual({ right: true, solved: true, reply: null, solution: ["Ra8#"] });
    expect(verdict(puzzle, ["e1e8"]).solved).toBe(true); // another mate
    expect(verdict(puzzle, ["a1a2"])).toMatchObject({ right: false, solved: false });
    expect(() => verdict(puzzle, ["a1a8", "g8h8", "a8a1"])).toThrow("do not lead into the puzzle");
    expect(solutionSan(longer)).toEqual(["Rb8#"]);
  });
  it("are tried by agents up to the first mistake", async () => {
    expect(await attemptOf(longer, "greedy-material", greedy)).toMatchObject({ solved: true, found: 1, moves: ["Rb8#"] });
  });
});
