// Games from the page -> boards, and what the rules say of them (play/pasted_games.py).

import { Refused, type Game, type Position } from "../../api-types";
import { Board } from "../rules/board";
import { positionOf } from "../rules/fen";
import { resultOf } from "../rules/outcome";

export const MAX_MOVES = 1000; // half-moves of one game

/** The boards before each move and after the last one; every move is checked. */
export function boardsOf({ fen, moves }: Game): Board[] {
  if (moves.length > MAX_MOVES) throw new Refused(`A game has at most ${MAX_MOVES} half-moves here.`);
  const boards = [fen === null ? Board.initial() : positionOf(fen)];
  moves.forEach((uci, number) => {
    const board = boards.at(-1)!;
    if (!board.isLegal(uci))
      throw new Refused(`Move ${number + 1}, ${uci.slice(0, 8)}, is not legal in ${board.fen}; take it back.`);
    boards.push(board.push(uci));
  });
  return boards;
}

export const boardOf = (game: Game): Board => boardsOf(game).at(-1)!;

/** The board of a game that goes on. */
export function openBoard(game: Game): Board {
  const board = boardOf(game);
  const result = resultOf(board);
  if (result) throw new Refused(`The game is over (${result.reason}); take a move back or start a new one.`);
  return board;
}

/** Legal moves, notation, check and result of a game. */
export function describe(game: Game): Position {
  const boards = boardsOf(game);
  const board = boards.at(-1)!;
  const result = resultOf(board);
  return {
    start: boards[0]!.fen,
    fen: board.fen,
    turn: board.turn,
    check: board.checkedKing(),
    legal: (result ? [] : board.legal).map((uci) => ({
      uci,
      source: uci.slice(0, 2),
      target: uci.slice(2, 4),
      promotion: (uci[4] ?? null) as "n" | "b" | "r" | "q" | null,
      san: board.san(uci),
    })),
    history: game.moves.map((uci, number) => {
      const [before, after] = [boards[number]!, boards[number + 1]!];
      return { uci, san: before.san(uci), fen: after.fen, check: after.checkedKing() };
    }),
    result,
  };
}
