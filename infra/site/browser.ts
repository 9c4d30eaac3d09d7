import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';

/** Debian's: the shell without a window where it is there, which is the same engine at half the work; or another one by CHROMIUM. */
export const chromiumPath =
  process.env.CHROMIUM ||
  ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync) ||
  '/usr/bin/chromium';

export const hasChromium = existsSync(chromiumPath);

/** A browser without a window that speaks to nobody by itself. @param more of Chromium's own arguments */
export async function openBrowser(more: readonly string[] = []): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--headless',
      // Containers and root have no user namespace; every page it opens here is our own.
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  });
}
