import { stageKeyOf } from '../../../shared/keys/stage-key.ts';
import { keyVersionOf } from '../../../shared/login/totp.ts';
import { keys } from '../../../shared/table/keys.ts';
import { type Rule, when } from '../rule.ts';

/** What makes new things is there, and every version once. */
export const keyIsWhole: Rule = async (item) => {
  const key = stageKeyOf(item);
  const numbers = key?.versions.map(({ version }) => version) ?? [];
  return [
    ...when(!numbers.includes(key?.current ?? 0), 'its current version is not there'),
    ...when(new Set(numbers).size < numbers.length, 'a version is there twice'),
  ];
};

/** The version of the key that a second factor derives from was not forgotten. */
export const factorHasKey: Rule = async ({ seed }, _named, look) => {
  const key = stageKeyOf(await look.get(keys.stageKey('totp')));
  if (!key || typeof seed !== 'string') return [];
  const version = keyVersionOf(seed);
  return when(
    key.versions.every((one) => one.version !== version),
    `version ${version} of the key for second factors is not there`,
  );
};
