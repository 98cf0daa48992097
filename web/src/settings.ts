// What a player can set once for all games, and how it reaches the style sheets.

export const THEMES = ["system", "light", "dark"] as const;
export const BOARDS = ["green", "brown", "blue", "grey"] as const;
export const PIECES = ["classic", "simple", "letters"] as const;

export interface Settings {
  theme: (typeof THEMES)[number];
  board: (typeof BOARDS)[number];
  pieces: (typeof PIECES)[number];
  sound: boolean;
  arrows: boolean; // the agent's line as arrows on the board
  bar: boolean; // the evaluation bar
  expectation: boolean; // show what the agent expects of the player before the player has moved
}

export const defaultSettings = (): Settings => ({
  theme: "system",
  board: "green",
  pieces: "classic",
  sound: false,
  arrows: true,
  bar: true,
  expectation: false,
});

/** Settings from storage; what is unknown or of the wrong kind stays at its default. */
export function settingsFrom(kept: unknown): Settings {
  const settings = defaultSettings();
  const from = (typeof kept === "object" && kept !== null ? kept : {}) as Record<string, unknown>;
  const choices: Record<string, readonly string[]> = { theme: THEMES, board: BOARDS, pieces: PIECES };
  for (const [key, value] of Object.entries(settings)) {
    const fits = choices[key]?.includes(from[key] as string) ?? typeof from[key] === typeof value;
    if (fits) Object.assign(settings, { [key]: from[key] });
  }
  return settings;
}

/** The style sheets read these from the root element. */
export function applySettings(settings: Settings): void {
  const { dataset } = document.documentElement;
  Object.assign(dataset, { theme: settings.theme, board: settings.board, pieces: settings.pieces });
}
