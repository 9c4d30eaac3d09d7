import { describe, expect, test } from '@jest/globals';
import { type Key, keys, parseHead } from '../../shared/carry/table/keys.ts';
import fc from '../setup/fast-check.ts';

type Name = keyof typeof keys;

/** What stands above Projects, or is told apart by its sort key in a partition of the whole stage. */
const ofTheStage: readonly Name[] = [
  'user',
  'password',
  'userSubject',
  'addressChange',
  'addressUndo',
  'mfa',
  'userMembership',
  'userLogin',
  'address',
  'client',
  'assertion',
  'attempts',
  'knownSignIn',
  'sourceAttempts',
  'share',
  'login',
  'publicKeys',
  'stageKey',
  'stageSecret',
  'reindex',
  'deletion',
  'outbox',
  'pending',
  'resetMail',
  'addressMail',
  'noticeMail',
  'failureMail',
  'emergencyMail',
  'mailQuota',
];

const ofAProject = Object.entries(keys).filter(([name]) => !ofTheStage.some((one) => one === name));
const id = fc.stringMatching(/^[A-Za-z0-9\-.]{1,64}$/);
const at = { lastUpdated: '2026-01-01T00:00:00.000Z', versionId: 'v' };

describe('what belongs to a Project', () => {
  test.each(ofAProject)('has it in front of its key, closed: %s', (_name, key) => {
    fc.assert(
      fc.property(id, fc.string(), fc.string(), (project, first, second) => {
        const parameters = [first, second, 'c', 'd'].map((text, i) =>
          key.length === 4 && i === 2 ? at : text,
        );
        const { pk } = (key as (...all: unknown[]) => Key)(project, ...parameters);
        expect(pk.startsWith(`P#${project}#`)).toBe(true);
      }),
    );
  });

  test('is told apart by it in the partitions of the stage', () => {
    for (const key of [keys.outbox('p1', 'm'), keys.pending('p1', 'Patient', 'm', 'v')])
      expect(key.sk.startsWith('p1#')).toBe(true);
    expect(keys.failureMail('p1', 's', 'm')).not.toEqual(keys.failureMail('p2', 's', 'm'));
    const taken = { membershipId: 'm', startedAtMs: 1 };
    expect(keys.emergencyMail('p1', taken, 'n')).not.toEqual(keys.emergencyMail('p2', taken, 'n'));
    expect(keys.resetMail('a@x.com', 'p1')).not.toEqual(keys.resetMail('a@x.com', 'p2'));
    expect(keys.userSubject('u', 'p1', 'i')).not.toEqual(keys.userSubject('u', 'p2', 'i'));
  });

  test('is read back from the head of a resource', () => {
    fc.assert(
      fc.property(id, id, (project, own) => {
        const head = keys.resource(project, 'Patient', own);
        expect(parseHead(head)).toEqual({ project, type: 'Patient', id: own });
      }),
    );
  });
});
