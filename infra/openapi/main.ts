import { writeFile } from 'node:fs/promises';
import { generatedFiles } from './generate.ts';

for (const { path, text } of generatedFiles()) {
  await writeFile(new URL(`../../${path}`, import.meta.url), text);
  process.stdout.write(`${path} ${text.length} characters\n`);
}
