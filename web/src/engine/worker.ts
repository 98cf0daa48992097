// The worker: loads the network and answers the page's requests to agents.

import puzzles from "../../../src/diffusearch/play/puzzles.json";
import type { FromWorker, ToWorker } from "./messages";
import { loadNetwork } from "./network/load";
import { SETTINGS } from "./settings";
import { WorkQueue } from "./work-queue";

const scope = self as unknown as {
  postMessage: (said: FromWorker) => void;
  onmessage: (event: MessageEvent<ToWorker>) => void;
};

const queue = new WorkQueue(SETTINGS, puzzles.puzzles, loadNetwork(), (said) => scope.postMessage(said));
scope.onmessage = ({ data }) => queue.receive(data);
