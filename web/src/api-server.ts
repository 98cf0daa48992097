// The API as the server of `diffusearch play` answers it.

import { Cancelled, Refused, type Api } from "./api-types";

const TRIES = 40; // of a request that a busy server puts off

async function ask<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const request: RequestInit = { ...(body === undefined ? {} : post), ...(signal ? { signal } : {}) };
  for (let tries = 1; ; tries += 1) {
    let answer: Response;
    try {
      answer = await fetch(`./api/${path}`, request);
    } catch {
      if (signal?.aborted) throw new Cancelled();
      throw new Refused("The server does not answer; is it still running? Your game is kept here.");
    }
    const json: unknown = await answer.json().catch(() => null);
    if (signal?.aborted) throw new Cancelled();
    if (answer.ok) return json as T;
    if (answer.status === 503 && tries < TRIES) {
      await new Promise((wake) => setTimeout(wake, 1000 * Number(answer.headers.get("retry-after") ?? 2)));
      continue;
    }
    throw new Refused((json as { detail?: string } | null)?.detail ?? `The server answered ${answer.status}.`);
  }
}

export const backend: Api = {
  agents: () => ask("agents"),
  position: (game) => ask("position", game),
  think: (game, agent, level, { signal, ...wishes } = {}) => ask("think", { ...game, agent, level, ...wishes }, signal),
  review: (game, agent, level, first, count, signal) =>
    ask("review", { ...game, agent, level, first, count }, signal),
  paste: (text) => ask("paste", { text }),
  pgn: (game, white, black, ended) => ask("pgn", { ...game, white, black, ...ended }),
  puzzles: () => ask("puzzles"),
  tryPuzzle: (id, moves) => ask(`puzzles/${id}/try`, { moves }),
  solution: (id) => ask(`puzzles/${id}/solution`),
  agentPuzzle: (id, agent, level) => ask(`puzzles/${id}/agent`, { agent, level }),
};
