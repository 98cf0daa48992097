// The service worker of the static page: keeps every file of the build, and answers from what it has kept.

import { cacheName, fromCache, fromHost, type Built } from "./engine/files";

declare const self: {
  addEventListener(type: "install" | "activate", act: (event: { waitUntil(work: Promise<unknown>): void }) => void): void;
  addEventListener(type: "fetch", act: (event: { request: Request; respondWith(answer: Promise<Response>): void }) => void): void;
  location: Location;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
};
declare const BUILT: Record<string, Built>; // all files of the build, relative to this one; put in by the build

const here = (file: string): string => new URL(file, self.location.href).href;
const hashed = (file: string): boolean => file.startsWith("assets/"); // its name changes with its contents
const open = (): Promise<Cache> => caches.open(cacheName(here("./")));

/** Keeps what is missing or damaged. Files that keep their names over builds are replaced when all others are there. */
async function install(): Promise<void> {
  const cache = await open();
  const fresh: [string, Response][] = [];
  for (const [file, built] of Object.entries(BUILT)) {
    const address = here(file);
    if (hashed(file) && (await fromCache(cache, address, built))) continue;
    const { answer } = await fromHost(address, built);
    if (hashed(file)) await cache.put(address, answer);
    else fresh.push([address, answer]);
  }
  for (const [address, answer] of fresh) await cache.put(address, answer);
  await self.skipWaiting();
}

/** Removes what earlier builds left in the cache of this copy of the page; those of other copies are not its own. */
async function activate(): Promise<void> {
  const cache = await open();
  const kept = new Set(Object.keys(BUILT).map(here));
  for (const { url } of await cache.keys()) if (!kept.has(url)) await cache.delete(url);
  await self.clients.claim();
}

async function answer(request: Request): Promise<Response> {
  const { origin, pathname } = new URL(request.url);
  const address = origin + pathname === here("./") ? here("./index.html") : request.url;
  return (await (await open()).match(address, { ignoreSearch: true })) ?? fetch(request);
}

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && new URL(request.url).origin === self.location.origin)
    event.respondWith(answer(request));
});
