import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const require = createRequire(import.meta.url);
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/**
 * What a page does wrong: what axe finds serious (WCAG 2.2 A and AA), and content wider than the window.
 * @returns one line each; none for a page with good manners
 */
export async function badManners(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axeSource);
  // Until a dialog's first frame is due React Aria keeps it unseen, and axe knows of none.
  await page.locator('.overlay[style*="opacity: 0"]').first().waitFor({ state: 'detached' });
  await page.evaluate(unmoved);
  return page.evaluate(async () => {
    const { axe, document } = globalThis as unknown as InPage;
    const { violations } = await axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      // What is in order is not described.
      ...{ resultTypes: ['violations'], selectors: false },
    });
    const { scrollWidth, clientWidth } = document.documentElement;
    return [
      ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
      ...(scrollWidth > clientWidth ? [`${scrollWidth} px wide in a window of ${clientWidth}`] : []),
    ];
  });
}

/** In the browser: until colours that change have changed, but for what moves without an end. */
async function unmoved(): Promise<void> {
  const { document } = globalThis as unknown as {
    document: {
      getAnimations(): { finished: Promise<unknown>; effect: { getTiming(): { iterations: number } } }[];
    };
  };
  const ending = document
    .getAnimations()
    .filter(({ effect }) => Number.isFinite(effect.getTiming().iterations));
  await Promise.allSettled(ending.map(({ finished }) => finished));
}

interface InPage {
  document: { documentElement: { scrollWidth: number; clientWidth: number } };
  axe: {
    run(of: object, options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
  };
}
