// The files of the build, kept in the browser's cache: checked against the sizes and hashes that the build wrote down.

/** A file that cannot be had, in one sentence. The service worker is one file, so this module imports nothing. */
export class FileFault extends Error {}

/** What the build says of a file. */
export interface Built {
  size: number;
  sha256: string; // hexadecimal
}

/** The name of the cache of one copy of the page; several copies may share an origin. */
export const cacheName = (scope: string): string => `diffusearch ${scope}`;

/** What is wrong with a file's bytes, in words; null if they are those of the build. */
async function fault(bytes: Uint8Array<ArrayBuffer>, built: Built): Promise<string | null> {
  if (bytes.length !== built.size) return `${bytes.length} bytes instead of ${built.size}`;
  // Browsers hash on https and on this machine only. Elsewhere they keep no cache either: no wrong file stays.
  if (!("subtle" in crypto)) return null;
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const text = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return text === built.sha256 ? null : "its checksum is another";
}

/** The bytes in the cache; null where they are missing or wrong, and what is wrong is removed. */
export async function fromCache(cache: Cache, address: string, built: Built): Promise<Uint8Array | null> {
  const kept = await cache.match(address);
  if (!kept) return null;
  const bytes = new Uint8Array(await kept.arrayBuffer());
  if ((await fault(bytes, built)) === null) return bytes;
  await cache.delete(address);
  return null;
}

/** The answer of the host with exactly the bytes of the build, or a FileFault. */
export async function fromHost(address: string, built: Built): Promise<{ answer: Response; bytes: Uint8Array }> {
  const name = address.split("/").at(-1)!;
  let problem = "";
  // The browser's own store of answers may have an older or a damaged one: the second request goes past it.
  for (const cache of ["default", "reload"] as const) {
    let answer: Response;
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      answer = await fetch(address, { cache });
      bytes = new Uint8Array(await answer.arrayBuffer());
    } catch {
      problem = `The engine's file ${name} cannot be loaded; connect to the network and load the page again.`;
      continue;
    }
    const wrong = answer.ok ? await fault(bytes, built) : null;
    if (answer.ok && wrong === null) return { answer: new Response(bytes, { headers: answer.headers }), bytes };
    problem = answer.ok
      ? `The engine's file ${name} arrives damaged (${wrong}); load the page again later, and tell its owner if that does not help.`
      : `The engine's file ${name} is missing (${answer.status}); ask the page's owner to publish the whole build again.`;
  }
  throw new FileFault(problem);
}

/** A file's bytes. Where the browser keeps a cache (https, or this machine), the file is put there once it is checked. */
export async function fileBytes(scope: string, address: string, built: Built): Promise<Uint8Array> {
  const cache = "caches" in globalThis ? await caches.open(cacheName(scope)).catch(() => null) : null;
  const kept = cache && (await fromCache(cache, address, built));
  if (kept) return kept;
  const { answer, bytes } = await fromHost(address, built);
  await cache?.put(address, answer).catch(() => undefined); // a full disk: the page works, but not offline
  return bytes;
}
