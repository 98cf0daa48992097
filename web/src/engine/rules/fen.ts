// A FEN from a player: a board that can be played on, or a sentence that says what is wrong with it.

import { Chess } from "chessops/chess";
import { parseFen } from "chessops/fen";
import { Refused } from "../../api-types";
import { Board } from "./board";
import { problemOf } from "./problems";

const HIGHEST = 9999; // half-move clock and move number
const LONGEST = 200; // characters

export function positionOf(fen: string): Board {
  const text = fen.trim();
  const shown = `'${text.slice(0, 100)}'`;
  if (text.length > LONGEST) throw new Refused(`${shown}... is not a FEN; write one position.`);
  const setup = parseFen(text).unwrap(
    (found) => found,
    () => {
      throw new Refused(
        `${shown} is not a FEN; write board, side to move, castling, en passant and the two clocks.`,
      );
    },
  );
  if (Math.max(setup.halfmoves, setup.fullmoves) > HIGHEST)
    throw new Refused(`${shown} counts more than ${HIGHEST} moves; write smaller clocks.`);
  const problem = problemOf(setup);
  if (problem) throw new Refused(`${shown} is not a playable position: ${problem}.`);
  return Board.of(Chess.fromSetup(setup).unwrap());
}
