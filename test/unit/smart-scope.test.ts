import { describe, expect, test } from '@jest/globals';
import {
  interactionsOf,
  isNarrower,
  parseResourceScope,
  resourceScopes,
} from '../../shared/identity/policies/smart-scope.ts';
import fc from '../setup/fast-check.ts';

const scopeText = fc
  .tuple(
    fc.constantFrom('patient', 'user', 'system'),
    fc.constantFrom('*', 'Patient', 'Observation'),
    fc.constantFrom('r', 'rs', 'cruds', 'cud', 'u', 'read', 'write', '*'),
    fc.constantFrom('', '?category=laboratory', '?status=final'),
  )
  .map(
    ([context, type, letters, query]) =>
      `${context}/${type}.${letters}${/^[cruds]+$/.test(letters) ? query : ''}`,
  );
const scopes = fc
  .array(fc.oneof(scopeText, fc.constantFrom('openid', 'offline_access')), { maxLength: 4 })
  .map((all) => all.join(' '));

describe('a resource scope', () => {
  test.each([
    ['patient/Observation.rs', { context: 'patient', type: 'Observation', letters: 'rs' }],
    ['user/*.cruds', { context: 'user', type: '*', letters: 'cruds' }],
    [
      'system/Condition.s?category=a%7Cb',
      { context: 'system', type: 'Condition', letters: 's', query: 'category=a%7Cb' },
    ],
    ['user/Patient.read', { context: 'user', type: 'Patient', letters: 'rs' }],
    ['user/Patient.write', { context: 'user', type: 'Patient', letters: 'cud' }],
    ['patient/*.*', { context: 'patient', type: '*', letters: 'cruds' }],
  ])('%s is understood', (text, expected) => {
    expect(parseResourceScope(text)).toEqual({ query: undefined, ...expected });
  });

  test.each([
    'patient/Observation.sr',
    'patient/Observation.',
    'patient/Observation',
    'patient/observation.rs',
    'patient/Observation.rs?',
    'patient/Observation.read?category=x',
    'Patient/Observation.rs',
    'launch/Observation.rs',
    'patient/Observation.rsx',
    'patient/**.rs',
    '',
  ])('%j is not', (text) => {
    expect(parseResourceScope(text)).toBeUndefined();
  });

  test('executes a Bot only where it may change something', () => {
    const executes = (text: string) => resourceScopes(text).some((one) => interactionsOf(one).has('execute'));
    expect(['user/Bot.rs', 'user/Bot.u', 'user/*.cruds', 'user/Bot.write'].map(executes)).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });
});

describe('a narrower scope', () => {
  test('is narrower than itself, and what is narrower twice is narrower', () => {
    fc.assert(fc.property(scopes, (one) => expect(isNarrower(one, one)).toBe(true)));
    fc.assert(
      fc.property(scopes, scopes, scopes, (a, b, c) => {
        if (isNarrower(a, b) && isNarrower(b, c)) expect(isNarrower(a, c)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('allows no interaction with a type that the wider does not', () => {
    const allowed = (text: string) =>
      new Set(
        resourceScopes(text).flatMap((one) =>
          [...interactionsOf(one)].map((what) => `${one.context} ${one.type} ${what}`),
        ),
      );
    fc.assert(
      fc.property(scopes, scopes, (granted, asked) => {
        if (!isNarrower(granted, asked) || resourceScopes(granted).length === 0) return;
        const had = allowed(granted);
        for (const one of allowed(asked)) {
          const [context, , what] = one.split(' ');
          expect(had.has(one) || had.has(`${context} * ${what}`)).toBe(true);
        }
        expect(resourceScopes(asked).length).toBeGreaterThan(0);
      }),
      { numRuns: 2000 },
    );
  });

  test('never leaves the narrowing out', () => {
    expect(isNarrower('openid patient/*.rs', 'openid')).toBe(false);
    expect(isNarrower('openid', 'openid patient/*.rs')).toBe(true);
    expect(isNarrower('openid', 'openid offline_access')).toBe(false);
    expect(isNarrower('user/Patient.rs?gender=male', 'user/Patient.rs')).toBe(false);
  });
});
