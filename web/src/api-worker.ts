// The API without a server: the rules answer here at once, agents think in a worker.

import puzzleFile from "../../src/diffusearch/play/puzzles.json";
import { Cancelled, Refused, type AgentCard, type Api } from "./api-types";
import { cards } from "./engine/agents/opponents";
import { describe } from "./engine/answers/games";
import { pasted, pgnOf } from "./engine/answers/pgn";
import { puzzleCards, puzzleOf, solutionSan, verdict } from "./engine/answers/puzzles";
import type { FromWorker, Requests, ToWorker, Topic } from "./engine/messages";
import { SETTINGS } from "./engine/settings";
import { keepOffline } from "./offline";

const { puzzles } = puzzleFile;
const worker = new Worker(new URL("./engine/worker.ts", import.meta.url), { type: "module" });
const open = new Map<number, { resolve: (answer: never) => void; reject: (error: Error) => void }>();
let asked = 0;
let state: AgentCard["state"] = "loading";
let problem: string | null = null;

worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
  if ("state" in data) {
    ({ state, problem } = data);
    if (state === "ready") keepOffline();
    return;
  }
  const request = open.get(data.number);
  open.delete(data.number);
  if ("answer" in data) request?.resolve(data.answer as never);
  else request?.reject("refused" in data ? new Refused(data.refused) : new Cancelled());
};

worker.onerror = (event) => {
  [state, problem] = ["problem", `The engine does not start here (${event.message}); try another browser.`];
  for (const { reject } of open.values()) reject(new Refused(problem));
  open.clear();
};

function ask<T extends Topic>(
  topic: T,
  of: Requests[T]["asked"],
  signal?: AbortSignal,
): Promise<Requests[T]["answer"]> {
  if (signal?.aborted) return Promise.reject(new Cancelled());
  const number = (asked += 1);
  const send = (words: ToWorker): void => worker.postMessage(words);
  const answer = new Promise<Requests[T]["answer"]>((resolve, reject) => open.set(number, { resolve, reject }));
  signal?.addEventListener("abort", () => {
    if (!open.has(number)) return;
    open.get(number)!.reject(new Cancelled());
    open.delete(number);
    send({ cancel: number });
  });
  send({ number, topic, asked: of } as ToWorker);
  return answer;
}

export const backend: Api = {
  agents: async () => cards(SETTINGS, state, problem),
  position: async (game) => describe(game),
  think: (game, agent, level, { signal, draw_offered } = {}) =>
    ask("think", { game, agent, level, drawOffered: draw_offered ?? false }, signal),
  review: (game, agent, level, first, count, signal) => ask("review", { game, agent, level, first, count }, signal),
  paste: async (text) => pasted(text),
  pgn: async (game, white, black, ended) => ({ pgn: pgnOf(game, white, black, ended, new Date()) }),
  puzzles: async () => puzzleCards(puzzles),
  tryPuzzle: async (id, moves) => verdict(puzzleOf(puzzles, id), moves),
  solution: async (id) => ({ solution: solutionSan(puzzleOf(puzzles, id)) }),
  agentPuzzle: (id, agent, level) => ask("agentPuzzle", { id, agent, level }),
};
