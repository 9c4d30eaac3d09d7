import { writeFile } from 'node:fs/promises';
import { listModule, path } from './generate.ts';

const text = listModule();
await writeFile(new URL(`../../${path}`, import.meta.url), text);
process.stdout.write(`${path} ${text.length} characters\n`);
