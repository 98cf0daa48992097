// The one place where the page meets its back end: whoever implements `Api` can stand behind it.
// The build chooses: api-server.ts asks the server of `diffusearch play`, api-worker.ts a worker of the static page.

import { backend } from "#backend";
import type { Api } from "./api-types";

export * from "./api-types";
export const api: Api = backend;
