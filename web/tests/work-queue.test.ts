// The worker's queue: order, cancelled requests, and what is refused.

import { describe, expect, it, vi } from "vitest";
import type { FromWorker, ToWorker } from "../src/engine/messages";
import { SETTINGS } from "../src/engine/settings";
import { WorkQueue } from "../src/engine/work-queue";
import { Mock } from "./mock";

const think = (number: number, agent = "search", level = 5): ToWorker => ({
  number,
  topic: "think",
  asked: { agent, level, game: { fen: null, moves: [] }, drawOffered: false },
});

function queue(network: Promise<Mock>) {
  const said: FromWorker[] = [];
  return { said, queue: new WorkQueue(SETTINGS, [], network, (one) => said.push(one)) };
}

const answered = (said: FromWorker[]): number[] => said.flatMap((one) => ("number" in one ? [one.number] : []));

describe("the worker's queue", () => {
  it("answers in order, also what was asked while the network was loading", async () => {
    let load: (network: Mock) => void = () => undefined;
    const { said, queue: at } = queue(new Promise((resolve) => (load = resolve)));
    at.receive(think(1));
    at.receive(think(2, "diffusearch"));
    expect(said).toEqual([{ state: "loading", problem: null }]);
    load(new Mock());
    await vi.waitFor(() => expect(answered(said)).toEqual([1, 2]), 60_000);
    expect(said[1]).toEqual({ state: "ready", problem: null });
  });

  it("leaves out what is cancelled, before and while it works", async () => {
    const mock = new Mock();
    const { said, queue: at } = queue(Promise.resolve(mock));
    at.receive(think(1));
    at.receive(think(2));
    at.receive(think(3));
    at.receive({ cancel: 1 });
    at.receive({ cancel: 2 });
    await vi.waitFor(() => expect(answered(said)).toEqual([1, 2, 3]), 60_000);
    expect(said.slice(-3, -1)).toEqual([{ number: 1, cancelled: true }, { number: 2, cancelled: true }]);
    expect(mock.calls.evaluate).toBe(5); // one search
  });

  it("says in a sentence what it cannot do, and players without a network still play", async () => {
    const { said, queue: at } = queue(Promise.reject(new Error("no WASM")));
    at.receive(think(1));
    at.receive(think(2, "nobody"));
    at.receive(think(3, "search", 99));
    at.receive(think(4, "random", 0));
    await vi.waitFor(() => expect(answered(said)).toEqual([1, 2, 3, 4]), 60_000);
    const words = said.flatMap((one) => ("refused" in one ? [one.refused] : []));
    expect(words[0]).toContain("no WASM");
    expect(words[1]).toContain("There is no agent 'nobody'");
    expect(words[2]).toContain("has the levels 0 to 5");
    expect(said).toContainEqual(expect.objectContaining({ state: "problem" }));
  });
});
