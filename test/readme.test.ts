import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Stack, startStack } from '../infra/local/stack.ts';

const root = resolve(import.meta.dirname, '..');
const run = promisify(execFile);
let folder: string;
let stack: Stack;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-readme-'));
  stack = await startStack({ dataDir: join(folder, '.data'), port: 0 });
});

afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Each `sh` block with the `text` block that follows it, if one does. */
async function readmeSteps(): Promise<{ script: string; printed: string | undefined }[]> {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const steps: { script: string; printed: string | undefined }[] = [];
  for (const [, language, body = ''] of readme.matchAll(/```(sh|text)\n([\s\S]*?)```/g)) {
    if (language === 'sh') steps.push({ script: body, printed: undefined });
    else steps[steps.length - 1] = { script: steps.at(-1)?.script ?? '', printed: body.trim() };
  }
  return steps;
}

test('every call of the README answers what is printed there', async () => {
  const steps = await readmeSteps();
  expect(steps.length).toBeGreaterThan(5);
  // One shell, so that variables carry from block to block; a mark ends each block's output.
  const mark = '\n#### end of block ####\n';
  const script = steps.map((step) => `${step.script}\nprintf '%s' '${mark}'`).join('\n');
  const { stdout } = await run('/bin/bash', ['-eu', '-o', 'pipefail', '-c', script], { cwd: folder });
  const outputs = stdout.split(mark);
  for (const [i, { printed }] of steps.entries()) {
    if (printed === undefined) continue;
    const pattern = printed
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^\\n]*?');
    expect(outputs[i]?.trim()).toMatch(new RegExp(`^${pattern}$`));
  }
});
