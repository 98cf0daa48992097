// The engine's files, fetched once: from the browser's cache where they are there, else from where the page came from.

import { Refused } from "../api-types";

export const CACHE = "diffusearch"; // shared with the service worker; file names carry hashes of their contents

/** A file's bytes. Where the browser keeps a cache (https, or this machine), the file is put there. */
export async function fileBytes(address: string): Promise<Uint8Array> {
  const cache = "caches" in globalThis ? await caches.open(CACHE).catch(() => null) : null;
  const kept = await cache?.match(address);
  if (kept) return new Uint8Array(await kept.arrayBuffer());
  const name = address.split("/").at(-1)!;
  let answer: Response;
  try {
    answer = await fetch(address);
  } catch {
    throw new Refused(`The engine's file ${name} cannot be loaded; connect to the network and load the page again.`);
  }
  if (!answer.ok) throw new Refused(`The engine's file ${name} is missing (${answer.status}); build the page again.`);
  const bytes = new Uint8Array(await answer.clone().arrayBuffer());
  await cache?.put(address, answer).catch(() => undefined); // a full disk: the page works, but not offline
  return bytes;
}
