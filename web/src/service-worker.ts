// The service worker of the static page: keeps every file of the build, and answers from what it has kept.

import { CACHE } from "./engine/files";

declare const self: {
  addEventListener(type: "install" | "activate", act: (event: { waitUntil(work: Promise<unknown>): void }) => void): void;
  addEventListener(type: "fetch", act: (event: { request: Request; respondWith(answer: Promise<Response>): void }) => void): void;
  location: Location;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
};
declare const BUILT: string[]; // all files of the build, relative to this one; put in by the build

const here = (file: string): string => new URL(file, self.location.href).href;
const hashed = (file: string): boolean => file.startsWith("assets/"); // its name changes with its contents

/** Fetches what is missing, and anew what keeps its name over builds. */
async function install(): Promise<void> {
  const cache = await caches.open(CACHE);
  for (const file of BUILT) {
    if (hashed(file) && (await cache.match(here(file)))) continue;
    await cache.add(new Request(here(file), hashed(file) ? {} : { cache: "no-cache" }));
  }
  await self.skipWaiting();
}

/** Removes what earlier builds left. */
async function activate(): Promise<void> {
  const cache = await caches.open(CACHE);
  const kept = new Set(BUILT.map(here));
  for (const { url } of await cache.keys()) if (!kept.has(url)) await cache.delete(url);
  await self.clients.claim();
}

async function answer(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  const address = request.mode === "navigate" ? here("./index.html") : request.url;
  return (await cache.match(address, { ignoreSearch: true })) ?? fetch(request);
}

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && new URL(request.url).origin === self.location.origin)
    event.respondWith(answer(request));
});
