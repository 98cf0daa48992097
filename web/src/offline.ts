// Offline use of the static page: a service worker keeps all files once the engine is loaded.

/** Asked for when the engine's own files are in the cache already, so that they are fetched only once. */
export function keepOffline(): void {
  if (!("serviceWorker" in navigator) || !import.meta.env.PROD) return;
  navigator.serviceWorker.register("./service-worker.js").catch(() => undefined); // the page works without it
}
