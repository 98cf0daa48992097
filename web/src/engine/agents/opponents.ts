// Who can be played without a server: the server's own list, as far as one network serves it (settings.json).

import { Refused, type AgentCard, type Rating } from "../../api-types";
import type { Decoding } from "../diffusion/denoise";
import type { Run } from "../run";
import type { SearchSettings } from "../search/minimax";
import type { Agent } from "./decision";
import { imagining, type ImaginingSettings } from "./imagining";
import { searching } from "./searching";
import { greedy, random } from "./simple";

export interface ListedLevel {
  label: string;
  rating: Rating | null;
  strength: number; // 0 to 100
  steps: number | null; // network calls at most
  order: Decoding["order"] | null; // of joint denoising, of which every step is recorded; null: drafts
}

export interface ListedAgent {
  id: string;
  name: string;
  about: string;
  default: number;
  levels: ListedLevel[];
}

/** What the build writes about agents and their settings, from the Python side. */
export interface EngineSettings {
  agents: ListedAgent[];
  search: SearchSettings;
  imagining: ImaginingSettings;
}

const NETWORKLESS: Record<string, Agent> = { "greedy-material": greedy, random };

export const needsNetwork = (id: string): boolean => !(id in NETWORKLESS);

/** The agent of an id at a level; `run` is asked only where a network is needed. */
export async function agentOf(
  settings: EngineSettings,
  id: string,
  level: number,
  run: () => Promise<Run>,
): Promise<Agent> {
  const listed = settings.agents.find((each) => each.id === id);
  if (!listed) throw new Refused(`There is no agent '${id.slice(0, 40)}'; choose one of the list.`);
  const chosen = listed.levels[level];
  if (!chosen) throw new Refused(`${listed.name} has the levels 0 to ${listed.levels.length - 1}, not ${level}.`);
  const simple = NETWORKLESS[id];
  if (simple) return simple;
  const { strength, steps, order } = chosen;
  if (id === "search") return searching(await run(), settings.search, strength, steps);
  return imagining(await run(), settings.imagining, strength, steps, order);
}

/** The list for the page; the network's state is that of all agents that need it. */
export function cards(settings: EngineSettings, state: AgentCard["state"], problem: string | null): AgentCard[] {
  return settings.agents.map(({ id, name, about, levels, ...rest }) => ({
    id,
    name,
    about,
    levels: levels.map(({ label, rating }) => ({ label, rating })),
    default: rest.default,
    state: needsNetwork(id) ? state : "ready",
    problem: needsNetwork(id) ? problem : null,
  }));
}
