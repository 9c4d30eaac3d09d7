import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../../command.ts';
import { replaceFile } from '../../files.ts';
import { settings } from '../environment.ts';
import { lockedBy } from '../folder-lock.ts';

/**
 * `npm run rotate-key -- prepare|sign|retire`: what the stage setting `signingKeys` does on AWS, in the key file of a
 * data folder that no stack uses. After each of the three the stack is started again.
 */
const usage = `npm run rotate-key -- prepare|sign|retire
  prepare  makes the next key and publishes it: whoever keeps the set of keys learns of it
  sign     signs with it; the one before stays published
  retire   forgets the one before, which leaves the set when all that it has signed is over
`;
interface KeyFile {
  privateKey: JsonWebKey;
  secret: string;
  others?: JsonWebKey[];
}

/** What becomes of the file, or why nothing can; and what was done, and comes next. */
const steps: Readonly<Record<string, { change(file: KeyFile): KeyFile | string; said: string }>> = {
  prepare: {
    change(file) {
      if (file.others?.length) return 'There is another key already: sign with it, or retire it';
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      return { ...file, others: [privateKey.export({ format: 'jwk' })] };
    },
    said: 'The next key is made and published from the next start on. Then, once whoever keeps the set of keys has asked again (a day is plenty): sign',
  },
  sign: {
    change({ others: [next] = [], ...file }) {
      return next
        ? { ...file, privateKey: next, others: [file.privateKey] }
        : 'There is no other key: prepare one';
    },
    said: 'The other key signs from the next start on, and the one before stays published. Then, an hour or more later: retire',
  },
  retire: {
    change: ({ others, ...file }) => (others?.length ? file : 'There is no other key'),
    said: 'The key before is forgotten. That was the last step: the next time begins with prepare',
  },
};

await command(usage, { failed: 2, allowPositionals: true }, async ({ positionals: [name = '', ...more] }) => {
  const step = steps[name];
  if (!step || more.length > 0) throw new Error('What is to be done?');
  const { dataDir } = settings();
  if ((await lockedBy(dataDir)) !== undefined) throw new Error(`Stop the stack of ${dataDir} first`);
  const path = join(dataDir, 'keys.json');
  const file = step.change(JSON.parse(await readFile(path, 'utf8')));
  if (typeof file === 'string') throw new Error(file);
  await replaceFile(path, JSON.stringify(file));
  process.stdout.write(`${step.said}\n`);
});
