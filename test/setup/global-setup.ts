import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepStacks } from '../spec-stack/stacks.ts';
import { startStorageEngine, stopStorageEngine } from './storage-engine.ts';

const stops: (() => Promise<void>)[] = [];

/** Before the first file: what several of them use. */
export default async function setUp(): Promise<void> {
  await startStorageEngine();
  const { url, stop } = await keepStacks(process.env.PORTICO_FROM);
  process.env.PORTICO_SPEC_STACKS = url;
  const templates = await mkdtemp(join(tmpdir(), 'portico-templates-'));
  process.env.PORTICO_TEMPLATES = templates;
  stops.push(stop, stopStorageEngine, () => rm(templates, { recursive: true, force: true }));
}

export async function tearDown(): Promise<void> {
  for (const stop of stops.splice(0)) await stop();
}
