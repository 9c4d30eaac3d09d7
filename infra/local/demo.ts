import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demonstrate } from './demonstration.ts';
import { startStack } from './stack.ts';

/** `npm run demo`: the main job once on a fresh folder; exits 0 only if all of it was right. */
const dataDir = await mkdtemp(join(tmpdir(), 'portico-demo-'));
const stack = await startStack({ dataDir, port: 0 });
let wrong: number;
try {
  wrong = await demonstrate(stack, (line) => process.stdout.write(`${line}\n`));
} finally {
  await stack.stop();
  await rm(dataDir, { recursive: true, force: true });
}
process.stdout.write(wrong === 0 ? 'All of it was right.\n' : `${wrong} of it went wrong.\n`);
process.exit(wrong === 0 ? 0 : 1);
