// PGN in and out: a pasted text as a game, and a game as a text.

import { castlingSide } from "chessops/chess";
import { defaultGame, extend, makePgn, parsePgn, type PgnNodeData } from "chessops/pgn";
import { parseSan } from "chessops/san";
import type { Move } from "chessops/types";
import { kingCastlesTo, makeUci } from "chessops/util";
import { Refused, type Ended, type Game, type PastedGame } from "../../api-types";
import { Board } from "../rules/board";
import { positionOf } from "../rules/fen";
import { resultOf } from "../rules/outcome";
import { boardsOf, MAX_MOVES } from "./games";

const MAX_PASTE = 100_000; // characters
const START = Board.initial().fen;

/** A pasted FEN (one line with ranks) or the first game of a pasted PGN. */
export function pasted(text: string): PastedGame {
  const clean = text.replace(/^\ufeff/, "").trim();
  if (!clean) throw new Refused("The text is empty; paste a FEN or a PGN.");
  if (clean.length > MAX_PASTE) throw new Refused(`The text is longer than ${MAX_PASTE} characters; paste one game.`);
  if (!clean.includes("\n") && clean.split(" ")[0]!.split("/").length === 8)
    return { fen: positionOf(clean).fen, moves: [], white: null, black: null };
  const [game] = parsePgn(clean);
  const sans = game ? [...game.moves.mainline()].map(({ san }) => san) : [];
  if (!game || (!sans.length && !clean.includes("[")))
    throw new Refused(`'${clean.slice(0, 60)}' is neither a FEN nor a PGN; paste one of them.`);
  const variant = game.headers.get("Variant") ?? "Standard";
  if (!["standard", "chess", "from position"].includes(variant.toLowerCase()))
    throw new Refused(`The PGN is of the variant '${variant.slice(0, 40)}'; only standard chess is played here.`);
  if (sans.length > MAX_MOVES)
    throw new Refused(`The game has ${sans.length} half-moves; paste one of at most ${MAX_MOVES}.`);
  const start = positionOf(game.headers.get("FEN") ?? START);
  let board = start;
  for (const san of sans) {
    const move = parseSan(board.position, san);
    if (!move) throw new Refused(`The PGN cannot be read ('${san.slice(0, 20)}' in ${board.fen}); correct that move.`);
    board = board.push(uciOf(board, move));
  }
  const known = (tag: string): string | null => {
    const name = clearName(game.headers.get(tag) ?? "?");
    return name === "?" ? null : name;
  };
  return { fen: start.fen, moves: [...board.played], white: known("White"), black: known("Black") };
}

/** chessops writes castling as king takes rook. */
function uciOf(board: Board, move: Move): string {
  const side = castlingSide(board.position, move);
  return makeUci(side && "from" in move ? { from: move.from, to: kingCastlesTo(board.turn, side) } : move);
}

/** A name as a PGN tag that no reader needs to unescape. */
const clearName = (name: string): string => name.replace(/["\\]|[^\P{C}]/gu, "").trim().slice(0, 60) || "?";

/** The game as PGN: the result is that of the rules, else of the players, else open. */
export function pgnOf(game: Game, white: string, black: string, ended: Ended, today: Date): string {
  const boards = boardsOf(game);
  const result = resultOf(boards.at(-1)!);
  const loser = ended.resigned ?? ended.flagged;
  let [score, termination] = ["*", ""];
  if (result) score = result.score;
  else if (loser) [score, termination] = [loser === "white" ? "0-1" : "1-0", ended.resigned ? "resignation" : "time forfeit"];
  else if (ended.draw_agreed) [score, termination] = ["1/2-1/2", "agreement"];
  const day = [today.getFullYear(), today.getMonth() + 1, today.getDate()];
  const out = defaultGame<PgnNodeData>(
    () =>
      new Map([
        ["Event", "Casual game"],
        ["Site", "DiffuSearch"],
        ["Date", day.map((part) => String(part).padStart(2, "0")).join(".")],
        ["Round", "?"],
        ["White", clearName(white)],
        ["Black", clearName(black)],
        ["Result", score],
        ...(boards[0]!.fen === START ? [] : ([["FEN", boards[0]!.fen], ["SetUp", "1"]] as [string, string][])),
        ...(termination ? ([["Termination", termination]] as [string, string][]) : []),
      ]),
  );
  extend(out.moves, game.moves.map((uci, number) => ({ san: boards[number]!.san(uci) })));
  return makePgn(out);
}
