import { keyPurposes } from '../../../shared/carry/keys/key-ring.ts';
import type { Retirement } from '../../../shared/identity/projects/retire-stage-key.ts';
import { command, flag, text } from '../../command.ts';
import { withFunctions } from '../deployed.ts';

/** `npm run stage-keys`: shows the secret keys of a stage, and replaces that of one purpose in three steps. */
const usage = `npm run stage-keys -- [<purpose> prepare|use|retire] [--stage <stage>]
  without a purpose: the versions that each key has
  prepare  makes the next version, which makes nothing yet
  use      has it make what is new; what the one before made stays good
  retire   forgets the one before, when nothing that it made is good any more; may be stopped and run again
npm run stage-keys -- --forget-earlier-secret [--stage <stage>]
  removes the one secret that releases before this one had for all purposes
purposes: ${keyPurposes.join(', ')}
--stage <stage>: of cdk.json, in the account that the credentials name; without it on this machine
`;
const options = { stage: text, 'forget-earlier-secret': { ...flag, default: false } };
await command(usage, { failed: 1, allowPositionals: true, options }, async ({ values, positionals }) => {
  const [name, step, ...more] = positionals;
  const purpose = keyPurposes.find((one) => one === name);
  const isStep = step === undefined ? name === undefined : /^(?:prepare|use|retire)$/.test(step);
  const { stage, 'forget-earlier-secret': forgetEarlier } = values;
  const isOne = !(forgetEarlier && name !== undefined);
  if (purpose !== name || !isStep || !isOne || more.length > 0) throw new Error('What is to be done?');
  const done = await withFunctions(stage, async (invoke): Promise<unknown> => {
    if (forgetEarlier) return invoke('provision', { forgetEarlierSecret: true });
    if (purpose === undefined) return invoke('stage-keys', { show: true });
    if (step !== 'retire') return invoke('stage-keys', { purpose, step });
    for (;;) {
      const { retirement } = await invoke<Retirement>('provision', { retireKey: purpose });
      if (retirement.done && retirement.standing === 0) return retirement;
      if (retirement.done) {
        throw new Error(`${retirement.standing} still derive from an earlier version: nothing was forgotten`);
      }
      process.stderr.write(`${JSON.stringify(retirement)}\n`);
    }
  });
  process.stdout.write(`${JSON.stringify(done, null, 2)}\n`);
  process.exit(0);
});
