// Boards on the page: the one that is played on, and small ones that only show. Both are <g-chess-board>.
// A board is told what to show by a `BoardSpec`; positions are set after each drawing (see `syncBoards`).

import "gchessboard";
import type { GChessBoardElement, Piece, Position, Square } from "gchessboard";
import { html, nothing, svg, type TemplateResult } from "lit-html";
import type { LinePly, Side, Step } from "./api";
import { drawEnd, drawStart } from "./drawing";

export interface Arrow {
  from: string;
  to: string;
  number: number | null;
  kind: "own" | "foe" | "bad"; // the side that thinks, the other side, an illegal move or a mistake
}

export interface BoardSpec {
  id: string;
  fen: string;
  orientation: Side;
  turn: Side | undefined; // whose pieces may be picked up; undefined: the board only shows
  targets: (from: string) => string[]; // where the piece on a square may be put
  hold: boolean; // leave the pieces where the player put them until the server has answered
  marks: Record<string, string>; // square -> class names
  arrows: Arrow[];
  drawn?: { from: string; to: string }[]; // the player's own arrows; undefined: none can be drawn here
  onMove: (from: string, to: string) => void;
}

/** What a board that only shows has in common. */
export const showOnly = { turn: undefined, targets: () => [], hold: false, onMove: () => undefined };

const specs = new Map<string, BoardSpec>();

export function boardView(spec: BoardSpec): TemplateResult {
  specs.set(spec.id, spec);
  const moveStart = (event: CustomEvent<{ from: string; setTargets: (squares: string[]) => void }>): void => {
    event.detail.setTargets(specs.get(spec.id)?.targets(event.detail.from) ?? []);
  };
  const moveFinished = (event: CustomEvent<{ from: string; to: string }>): void => {
    specs.get(spec.id)?.onMove(event.detail.from, event.detail.to);
  };
  // A board that only shows is one picture to a screen reader, not 64 squares.
  const shows = spec.turn === undefined;
  return html`<div
    class="board"
    role=${shows ? "img" : nothing}
    aria-label=${shows ? "Position" : nothing}
    @pointerdown=${spec.drawn ? (event: PointerEvent) => drawStart(event, spec.orientation) : nothing}
    @pointerup=${spec.drawn ? (event: PointerEvent) => drawEnd(event, spec.orientation) : nothing}
    @contextmenu=${spec.drawn ? (event: Event) => event.preventDefault() : nothing}
  >
    <g-chess-board
      id=${spec.id}
      aria-hidden=${shows ? "true" : nothing}
      ?interactive=${!shows}
      animation-duration="150"
      orientation=${spec.orientation}
      turn=${spec.turn ?? "white"}
      .arrows=${spec.arrows.map(({ from, to, number, kind }) => ({
        from,
        to,
        brush: kind,
        weight: number === null || number > 2 ? "light" : "normal",
      }))}
      @movestart=${moveStart}
      @movefinished=${moveFinished}
    >
      ${markViews(spec.marks)}
    </g-chess-board>
    ${overlayView(spec)}
  </div>`;
}

/** Give the drawn boards their positions. A board that already shows it is left alone, focus and drag included. */
export function syncBoards(): void {
  for (const [id, spec] of specs) {
    const board = document.getElementById(id) as GChessBoardElement | null;
    if (!board) specs.delete(id);
    else if (!spec.hold && board.fen !== spec.fen.split(" ")[0]) board.fen = spec.fen;
  }
}

/** Put the focus on the square of the board where it was last, for those who play by keyboard. */
export function focusBoard(id: string): void {
  document.getElementById(id)?.shadowRoot?.querySelector<HTMLElement>('[data-square][tabindex="0"]')?.focus();
}

/** A board that only shows; '?' is a square that is still masked, `sure` how sure its likeliest content is. */
export function miniBoard(
  squares: string,
  label: string,
  orientation: Side,
  marks: Record<string, string> = {},
  sure: number[] = [],
): TemplateResult {
  const all = { ...marks };
  const position: Position = {};
  for (const [place, letter] of [...squares].entries()) {
    const name = squareName(place) as Square;
    if (letter === "?") all[name] = `masked ${all[name] ?? ""}`;
    else if (letter !== ".") position[name] = pieceOf(letter);
  }
  return html`<div class="mini" role="img" aria-label=${label}>
    <g-chess-board
      aria-hidden="true"
      coordinates="hidden"
      animation-duration="0"
      orientation=${orientation}
      .position=${position}
      >${markViews(all, sure)}</g-chess-board
    >
  </div>`;
}

const TYPES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" } as const;

function pieceOf(letter: string): Piece {
  const low = letter.toLowerCase() as keyof typeof TYPES;
  return { pieceType: TYPES[low], color: letter === low ? "black" : "white" };
}

/** Places count from a8 to h1. */
export const squareName = (place: number): string => "abcdefgh"[place % 8]! + String(8 - Math.floor(place / 8));

const placeOf = (square: string): number => 8 * (8 - Number(square[1])) + "abcdefgh".indexOf(square[0]!);

const markViews = (marks: Record<string, string>, sure: number[] = []): TemplateResult[] =>
  Object.entries(marks).map(
    ([square, kind]) =>
      html`<div slot=${square} class="mark ${kind}" style=${sure.length ? `--sure:${sure[placeOf(square)]?.toFixed(2)}` : nothing}></div>`,
  );

/** The middle of a square on a board of 80 by 80. */
function middle(square: string, orientation: Side): [number, number] {
  const [file, rank] = ["abcdefgh".indexOf(square[0]!), Number(square[1]) - 1];
  return orientation === "white" ? [10 * file + 5, 75 - 10 * rank] : [75 - 10 * file, 10 * rank + 5];
}

/** Over the board: the numbers on the arrows, at two thirds of the way, and what the player drew. */
function overlayView({ arrows, drawn = [], orientation }: BoardSpec): TemplateResult | typeof nothing {
  if (!arrows.length && !drawn.length) return nothing;
  const taken = new Set<string>();
  const discs = arrows.map((arrow) => {
    if (arrow.number === null) return nothing;
    const [x1, y1] = middle(arrow.from, orientation);
    const [x2, y2] = middle(arrow.to, orientation);
    let share = 0.62;
    const at = (): [number, number] => [x1 + share * (x2 - x1), y1 + share * (y2 - y1)];
    const key = (): string => at().map((v) => Math.round(v / 4)).join();
    while (taken.has(key()) && share > 0.2) share -= 0.14; // beside a number that is already there
    taken.add(key());
    const [x, y] = at();
    return svg`<g class="number ${arrow.kind}"><circle cx=${x} cy=${y} r="2"></circle>
      <text x=${x} y=${y} dy="0.36em">${arrow.number}</text></g>`;
  });
  return html`<svg class="overlay" viewBox="0 0 80 80" aria-hidden="true">
    ${drawn.map(({ from, to }) => drawnView(from, to, orientation))} ${discs}
  </svg>`;
}

function drawnView(from: string, to: string, orientation: Side) {
  const [x1, y1] = middle(from, orientation);
  if (from === to) return svg`<circle class="drawn" cx=${x1} cy=${y1} r="4.4"></circle>`;
  const [x2, y2] = middle(to, orientation);
  const long = Math.hypot(x2 - x1, y2 - y1);
  const [ux, uy] = [(x2 - x1) / long, (y2 - y1) / long];
  const [bx, by] = [x2 - 4 * ux, y2 - 4 * uy]; // where the head begins
  const head = `${x2},${y2} ${bx - 2.2 * uy},${by + 2.2 * ux} ${bx + 2.2 * uy},${by - 2.2 * ux}`;
  return svg`<g class="drawn"><line x1=${x1 + 3 * ux} y1=${y1 + 3 * uy} x2=${bx} y2=${by}></line>
    <polygon points=${head}></polygon></g>`;
}

/** The arrows of a line; `skip` leaves out the moves that are on the board already, `most` what is hidden. */
export function arrowsOf(line: LinePly[], moves: (string | null)[] | null, skip: number, most = Infinity): Arrow[] {
  const arrows: Arrow[] = [];
  line.forEach((ply, index) => {
    const uci = moves ? moves[index] : ply.uci;
    if (index < skip || index >= most || !uci || uci === "0000") return;
    const kind = uci === ply.uci && !ply.legal ? "bad" : index % 2 ? "foe" : "own";
    arrows.push({ from: uci.slice(0, 2), to: uci.slice(2, 4), number: index + 1, kind });
  });
  return arrows;
}

/** The arrows of a line that is known by its moves alone, all of them legal. */
export const arrowsOfSteps = (line: Step[], skip: number, most: number): Arrow[] =>
  line.slice(0, most).flatMap(({ uci }, index) =>
    index < skip
      ? []
      : [{ from: uci.slice(0, 2), to: uci.slice(2, 4), number: index + 1, kind: index % 2 ? ("foe" as const) : ("own" as const) }],
  );
