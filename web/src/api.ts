// The one place where the page meets its back end: whoever implements `Api` can stand behind it.

import { server } from "./api-server";
import type { Api } from "./api-types";

export * from "./api-types";
export const api: Api = server;
