// The worker's queue: requests are answered one after the other; cancelled ones end at the next network call.

import { Cancelled, Refused } from "../api-types";
import { agentOf, type EngineSettings } from "./agents/opponents";
import { boardsOf, openBoard } from "./answers/games";
import { attemptOf, puzzleOf, type Puzzle } from "./answers/puzzles";
import { reviewed, reviewOf } from "./answers/review";
import { thoughtOf } from "./answers/thoughts";
import type { FromWorker, Requests, ToWorker, Topic } from "./messages";
import type { Network } from "./network/types";
import { Run } from "./run";

type Asked = Exclude<ToWorker, { cancel: number }>;

/** Lets the worker receive messages that arrived meanwhile. */
const nextTask = (): Promise<void> => new Promise((wake) => setTimeout(wake, 0));

export class WorkQueue {
  private readonly waiting: Asked[] = [];
  private readonly cancelled = new Set<number>();
  private current: number | null = null;

  constructor(
    private readonly settings: EngineSettings,
    private readonly puzzles: Puzzle[],
    private readonly network: Promise<Network>,
    private readonly send: (said: FromWorker) => void,
  ) {
    send({ state: "loading", problem: null });
    network.then(
      () => send({ state: "ready", problem: null }),
      (error: unknown) => send({ state: "problem", problem: sentence(error) }),
    );
  }

  receive(said: ToWorker): void {
    if ("cancel" in said) {
      if (said.cancel === this.current || this.waiting.some(({ number }) => number === said.cancel))
        this.cancelled.add(said.cancel);
      return;
    }
    this.waiting.push(said);
    if (this.current === null) void this.work();
  }

  private async work(): Promise<void> {
    for (let next = this.waiting.shift(); next; next = this.waiting.shift()) {
      const { number } = next;
      this.current = number;
      try {
        this.check(number);
        this.send({ number, answer: await this.answer(next) });
      } catch (error) {
        if (error instanceof Cancelled) this.send({ number, cancelled: true });
        else this.send({ number, refused: sentence(error) });
      }
      this.cancelled.delete(number);
      this.current = null;
    }
  }

  private check(number: number): void {
    if (this.cancelled.has(number)) throw new Cancelled();
  }

  private async answer({ number, topic, asked }: Asked): Promise<Requests[Topic]["answer"]> {
    const agent = await agentOf(this.settings, asked.agent, asked.level, () => this.run(number));
    if (topic === "think") {
      const board = openBoard(asked.game);
      const [decision] = await agent.decide([board]);
      return thoughtOf(asked.agent, board, decision!, asked.drawOffered);
    }
    if (topic === "review") {
      const boards = reviewed(boardsOf(asked.game), asked.first, asked.count);
      return reviewOf(asked.agent, agent, asked.first, boards);
    }
    return attemptOf(puzzleOf(this.puzzles, asked.id), asked.agent, agent);
  }

  /** The network for one request: each call checks first whether the request is cancelled. */
  private async run(number: number): Promise<Run> {
    const network = await this.network;
    const check = async (): Promise<void> => {
      await nextTask();
      this.check(number);
    };
    return new Run({
      evaluate: async (...of) => (await check(), network.evaluate(...of)),
      predict: async (...of) => (await check(), network.predict(...of)),
      denoise: async (...of) => (await check(), network.denoise(...of)),
      revise: async (...of) => (await check(), network.revise(...of)),
    });
  }
}

const sentence = (error: unknown): string => {
  if (error instanceof Refused) return error.message;
  return `The engine stopped: ${error instanceof Error ? error.message : String(error)}. Load the page again.`;
};
