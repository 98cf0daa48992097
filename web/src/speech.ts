// Moves as a screen reader should say them: "Nf3+" is "knight f3, check".

const PIECES: Record<string, string> = { K: "king", Q: "queen", R: "rook", B: "bishop", N: "knight" };

export function spoken(san: string): string {
  if (san.startsWith("O-O")) {
    return `castles ${san.startsWith("O-O-O") ? "queenside" : "kingside"}${ending(san)}`;
  }
  const [, piece = "", from = "", takes = "", to = "", promotion = ""] =
    /^([KQRBN]?)([a-h]?[1-8]?)(x?)([a-h][1-8])(?:=([QRBN]))?/.exec(san) ?? [];
  if (!to) return san;
  const words = [PIECES[piece], from, takes ? "takes" : "", to, promotion ? `becomes a ${PIECES[promotion]}` : ""];
  return words.filter(Boolean).join(" ") + ending(san);
}

const ending = (san: string): string => (san.endsWith("#") ? ", checkmate" : san.endsWith("+") ? ", check" : "");
