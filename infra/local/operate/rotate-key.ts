import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../../../shared/error-name.ts';
import { answerHelp } from '../../answer-help.ts';
import { lockedBy } from '../folder-lock.ts';
import { settings } from '../settings.ts';

/**
 * `npm run rotate-key -- prepare|sign|retire`: what the stage setting `signingKeys` does on AWS, in the key file of a
 * data folder that no stack uses. After each of the three the stack is started again.
 */
const usage = `npm run rotate-key -- prepare|sign|retire
  prepare  makes the next key and publishes it: whoever keeps the set of keys learns of it
  sign     signs with it; the one before stays published
  retire   forgets the one before, which leaves the set when all that it has signed is over
`;
answerHelp(usage);

interface KeyFile {
  privateKey: JsonWebKey;
  secret: string;
  others?: JsonWebKey[];
}

const steps: Readonly<Record<string, (file: KeyFile) => KeyFile>> = {
  prepare(file) {
    if (file.others?.length) throw new Error('There is another key already: sign with it, or retire it');
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return { ...file, others: [privateKey.export({ format: 'jwk' })] };
  },
  sign(file) {
    const [next] = file.others ?? [];
    if (!next) throw new Error('There is no other key: prepare one');
    return { ...file, privateKey: next, others: [file.privateKey] };
  },
  retire({ others, ...file }) {
    if (!others?.length) throw new Error('There is no other key');
    return file;
  },
};

try {
  const step = steps[process.argv[2] ?? ''];
  if (!step || process.argv.length > 3) throw new Error('What is to be done?');
  const { dataDir } = settings(process.env);
  if ((await lockedBy(dataDir)) !== undefined) throw new Error(`Stop the stack of ${dataDir} first`);
  const path = join(dataDir, 'keys.json');
  const file = step(JSON.parse(await readFile(path, 'utf8')));
  await writeFile(`${path}.new`, JSON.stringify(file), { mode: 0o600 });
  await rename(`${path}.new`, path);
} catch (error) {
  process.stderr.write(`${errorText(error)}\n${usage}`);
  process.exitCode = 2;
}
