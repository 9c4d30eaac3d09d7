import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '../infra/local/gateway/listen.ts';
import { type Stack, startStack } from '../infra/local/stack.ts';

const root = resolve(import.meta.dirname, '..');
const run = promisify(execFile);
let folder: string;
let stack: Stack;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-readme-'));
  // The folder is as the repository with a stack's data in it.
  for (const part of ['package.json', 'node_modules', 'infra', 'examples', 'mllp'])
    await symlink(join(root, part), join(folder, part));
  stack = await startStack({ dataDir: join(folder, '.data'), port: 0 });
});

afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Each `sh` block with the `text` block that follows it, if one does. */
async function stepsOf(page: string): Promise<{ script: string; printed: string | undefined }[]> {
  let text = await readFile(join(root, page), 'utf8');
  // The ports of the MLLP program may be somebody's here.
  for (const port of ['2575', '9575']) text = text.replaceAll(port, String(await freePort()));
  const steps: { script: string; printed: string | undefined }[] = [];
  for (const [, language, body = ''] of text.matchAll(/```(sh|text)\n([\s\S]*?)```/g)) {
    if (language === 'sh') steps.push({ script: body, printed: undefined });
    else steps[steps.length - 1] = { script: steps.at(-1)?.script ?? '', printed: body.trim() };
  }
  return steps;
}

test.each(['README.md', 'docs/bots.md', 'docs/hl7-feeds.md', 'docs/identity.md'])(
  'every call of %s answers what is printed there',
  async (page) => {
    const steps = await stepsOf(page);
    expect(steps.length).toBeGreaterThan(4);
    // One shell, so that variables carry from block to block; a mark ends each block's output.
    const mark = '\n#### end of block ####\n';
    const calls = steps.map((step) => `${step.script}\nprintf '%s' '${mark}'`).join('\n');
    // What a page leaves running in the background ends with it.
    const script = `trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n${calls}`;
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
  },
);
