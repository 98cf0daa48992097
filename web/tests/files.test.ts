// The files of the build: what the host or the cache has is taken only if it is what the build wrote down.

import { createHash } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { cacheName, fileBytes, type Built } from "../src/engine/files";

const ADDRESS = "https://host/a/assets/evaluate.onnx";
const SCOPE = "https://host/a/";
const RIGHT = new TextEncoder().encode("the graph");
const OTHER = new TextEncoder().encode("the grape"); // as long
const BUILT: Built = { size: RIGHT.length, sha256: createHash("sha256").update(RIGHT).digest("hex") };

type Said = Uint8Array | number | "no network";

/** A host that says one thing after the other, and the browser's caches by name; how it was asked is written down. */
function world(says: Said[], kept: Record<string, Uint8Array> = {}) {
  const caches = new Map<string, Map<string, Uint8Array>>([[cacheName(SCOPE), new Map(Object.entries(kept))]]);
  const asked: (string | undefined)[] = [];
  vi.stubGlobal("caches", {
    open: async (name: string) => {
      const files = caches.get(name) ?? caches.set(name, new Map()).get(name)!;
      return {
        match: async (address: string) => (files.has(address) ? new Response(files.get(address)! as BodyInit) : undefined),
        put: async (address: string, answer: Response) => files.set(address, new Uint8Array(await answer.arrayBuffer())),
        delete: async (address: string) => files.delete(address),
      };
    },
  });
  vi.stubGlobal("fetch", async (_: string, { cache }: RequestInit) => {
    const said = says[asked.length];
    asked.push(cache);
    if (said === undefined || said === "no network") throw new TypeError("failed to fetch");
    return typeof said === "number" ? new Response("", { status: said }) : new Response(said as BodyInit);
  });
  return { asked, cached: () => Object.fromEntries(caches.get(cacheName(SCOPE))!) };
}

afterEach(() => vi.unstubAllGlobals());

const load = (): Promise<Uint8Array> => fileBytes(SCOPE, ADDRESS, BUILT);

describe("a file of the build", () => {
  it("is kept once it is checked, and then the host is not asked", async () => {
    const { asked, cached } = world([RIGHT]);
    expect(await load()).toEqual(RIGHT);
    expect(cached()).toEqual({ [ADDRESS]: RIGHT });
    expect(await load()).toEqual(RIGHT);
    expect(asked).toEqual(["default"]);
  });

  it("is asked for again past the browser's own store when that has another", async () => {
    const { asked, cached } = world([OTHER, RIGHT]);
    expect(await load()).toEqual(RIGHT);
    expect(asked).toEqual(["default", "reload"]);
    expect(cached()).toEqual({ [ADDRESS]: RIGHT });
  });

  it("is replaced when the cache has another", async () => {
    const { cached } = world([RIGHT], { [ADDRESS]: OTHER });
    expect(await load()).toEqual(RIGHT);
    expect(cached()).toEqual({ [ADDRESS]: RIGHT });
  });

  it.each<[Said, string]>([
    [OTHER, "arrives damaged (its checksum is another)"],
    [RIGHT.slice(1), "arrives damaged (8 bytes instead of 9)"],
    [404, "is missing (404)"],
    ["no network", "cannot be loaded; connect to the network"],
  ])("is refused in one sentence and not kept: %s", async (said, words) => {
    const { cached } = world([said, said], { [ADDRESS]: OTHER });
    await expect(load()).rejects.toThrow(`The engine's file evaluate.onnx ${words}`);
    expect(cached()).toEqual({});
  });

  it("has only its size checked where the browser has neither hashes nor a cache: over http from another machine", async () => {
    world([OTHER, RIGHT.slice(1), RIGHT.slice(1)]);
    vi.stubGlobal("caches", undefined);
    Reflect.deleteProperty(globalThis, "caches");
    vi.stubGlobal("crypto", {});
    expect(await load()).toEqual(OTHER);
    await expect(load()).rejects.toThrow("arrives damaged");
  });
});
