import { brotliCompressSync, constants } from 'node:zlib';
import { dictionary } from '@zxcvbn-ts/language-common';
import { normalisePassword, shortestPassword } from '../../shared/identity/sign-in/password.ts';
import { answerHelp, writeGenerated } from '../command.ts';

/** The module that `npm run passwords` writes. */
export const path = 'shared/identity/sign-in/common-password-list.ts';

/** The passwords of the list that would be long enough, as they are compared, in order. */
function longEnough(): string[] {
  const normalised = dictionary['passwords-common'].map(normalisePassword);
  return [...new Set(normalised)].filter((one) => one.length >= shortestPassword).sort();
}

export function listModule(): string {
  const text = longEnough().join('\n');
  const packed = brotliCompressSync(text, {
    params: { [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
  });
  return `// Written by \`npm run passwords\` from @zxcvbn-ts/language-common (MIT); not to be edited.

/** Common and breached passwords, normalised, a line each; brotli in base64: small in a bundle, free until unpacked. */
export const commonPasswords =
  '${packed.toString('base64')}';
`;
}

if (import.meta.main) {
  answerHelp('npm run passwords\n  writes the module with the list of common passwords\n');
  await writeGenerated([{ path, text: listModule() }]);
}
