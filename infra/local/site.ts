import { buildSite, siteFolder } from '../site/build.ts';

export interface LocalSite {
  /** For the handler's SITE_DIR. */
  folder: string;
  /** Waits until the app is there; the first call builds it if its sources have changed. */
  built(): Promise<void>;
  /** Ends a build that is under way. */
  stop(): Promise<void>;
}

/** The administration app on a laptop, built when it is first asked for. */
export async function openSite(): Promise<LocalSite> {
  const folder = await siteFolder();
  const ending = new AbortController();
  let building: Promise<void> | undefined;
  return {
    folder,
    built() {
      building ??= buildSite(folder, ending.signal);
      return building;
    },
    async stop() {
      ending.abort();
      await building?.catch(() => undefined);
    },
  };
}
