// A position of a game with its history. Moves are UCI texts, castling is the king's step (e1g1); boards never change.

import { Chess, castlingSide } from "chessops/chess";
import { makeFen } from "chessops/fen";
import { makeSan } from "chessops/san";
import type { Color, NormalMove, Role } from "chessops/types";
import { kingCastlesTo, makeSquare, makeUci, parseUci } from "chessops/util";
import { SquareSet } from "chessops/squareSet";

const PROMOTIONS: Role[] = ["knight", "bishop", "rook", "queen"];
const LETTERS = { pawn: "p", knight: "n", bishop: "b", rook: "r", queen: "q", king: "k" } as const;

export class Board {
  private moves: string[] | null = null;

  private constructor(
    readonly position: Chess,
    readonly start: string, // FEN of the first position
    readonly played: readonly string[], // moves since then
    private readonly keys: readonly string[], // positions before this one, each as board, side, castling, en passant
  ) {}

  /** A board without history. */
  static of(position: Chess): Board {
    return new Board(position, fenOf(position), [], []);
  }

  static initial(): Board {
    return Board.of(Chess.default());
  }

  get turn(): Color {
    return this.position.turn;
  }

  get clock(): number {
    return this.position.halfmoves;
  }

  get number(): number {
    return this.position.fullmoves;
  }

  get fen(): string {
    return fenOf(this.position);
  }

  get check(): boolean {
    return this.position.isCheck();
  }

  /** All legal moves. */
  get legal(): readonly string[] {
    return (this.moves ??= legalMoves(this.position));
  }

  isLegal(uci: string): boolean {
    const move = parseUci(uci);
    return move !== undefined && this.position.isLegal(move);
  }

  /** The board after a legal move. */
  push(uci: string): Board {
    const position = this.position.clone();
    position.play(parseUci(uci)!);
    return new Board(position, this.start, [...this.played, uci], [...this.keys, keyOf(this.position)]);
  }

  /** The same position without history. */
  alone(): Board {
    return Board.of(this.position);
  }

  san(uci: string): string {
    return makeSan(this.position, parseUci(uci)!);
  }

  /** How often the position has occurred in the game, this time included. */
  occurrences(): number {
    const key = keyOf(this.position);
    return 1 + this.keys.filter((each) => each === key).length;
  }

  /** The square of the king in check, else null. */
  checkedKing(): string | null {
    const king = this.position.board.kingOf(this.turn);
    return king !== undefined && this.check ? makeSquare(king) : null;
  }

  /** 64 characters from a8, '.' for an empty square. */
  squares(): string {
    let out = "";
    for (let place = 0; place < 64; place += 1) {
      const piece = this.position.board.get(place ^ 56);
      const letter = piece ? LETTERS[piece.role] : ".";
      out += piece?.color === "white" ? letter.toUpperCase() : letter;
    }
    return out;
  }
}

function fenOf(position: Chess): string {
  const { halfmoves, fullmoves } = position; // chessops would bound them
  return makeFen({ ...position.toSetup(), halfmoves, fullmoves });
}

const keyOf = (position: Chess): string => makeFen(position.toSetup(), { epd: true });

function legalMoves(position: Chess): string[] {
  const out: string[] = [];
  const context = position.ctx();
  for (const [from, targets] of position.allDests(context)) {
    const promotes = position.board.pawn.has(from);
    for (const to of targets) {
      const move: NormalMove = { from, to };
      const side = castlingSide(position, move);
      if (side) out.push(makeUci({ from, to: kingCastlesTo(position.turn, side) }));
      else if (promotes && SquareSet.backranks().has(to))
        out.push(...PROMOTIONS.map((promotion) => makeUci({ ...move, promotion })));
      else out.push(makeUci(move));
    }
  }
  return out;
}
