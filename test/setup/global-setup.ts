import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepStacks } from '../spec-stack/stacks.ts';
import { keepBrowsers } from '../web/kept-browser.ts';
import { startStorageEngine, stopStorageEngine } from './storage-engine.ts';

const stops: (() => Promise<void>)[] = [];

/** Before the first file: what several of them use. */
export default async function setUp(): Promise<void> {
  const compiled = await mkdtemp(join(tmpdir(), 'portico-compiled-'));
  // What a program loads is compiled for the first of its runs only.
  process.env.NODE_COMPILE_CACHE = compiled;
  await startStorageEngine();
  const browsers = keepBrowsers();
  const { url, stop } = await keepStacks(process.env.PORTICO_FROM, browsers.url);
  process.env.PORTICO_SPEC_STACKS = url;
  const templates = await mkdtemp(join(tmpdir(), 'portico-templates-'));
  process.env.PORTICO_TEMPLATES = templates;
  const removals = [templates, compiled].map((one) => () => rm(one, { recursive: true, force: true }));
  stops.push(browsers.stop, stop, stopStorageEngine, ...removals);
}

export async function tearDown(): Promise<void> {
  for (const stop of stops.splice(0)) await stop();
}
