import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Reference } from '../../shared/base/resource.ts';
import { deployBot } from '../../shared/bots/bot/deploy-bot.ts';
import type { DeployServices } from '../../shared/bots/run/services.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { rotateSecret } from '../../shared/identity/memberships/change-client.ts';
import { changeMember } from '../../shared/identity/memberships/change-member.ts';
import { createClient } from '../../shared/identity/memberships/clients.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import fc from '../setup/fast-check.ts';
import { isLong } from '../setup/long.ts';
import {
  type Act,
  acts,
  beginnings,
  carryOutAct,
  grown,
  guarded,
  idOf,
  membershipOfBot,
  newRightsStart,
  type RightsWalk,
  startRightsWalk,
  writePolicy,
} from '../walks/rights.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
let start: Awaited<ReturnType<typeof newRightsStart>>;
beforeAll(async () => {
  stage = await startStage();
  start = await newRightsStart(stage);
});
afterAll(() => stage.stop());

/** Steps of a walk: acts of one step are carried out at once. */
const walks = fc.record({
  beginning: beginnings,
  steps: fc.array(fc.array(acts, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 8 }),
});

/** @param unguarded the only kind of act there is, carried out as if its operation forgot to ask */
function rightsNeverGrow(done: Map<string, number>, unguarded?: Act['kind']) {
  return fc.asyncProperty(walks, async ({ beginning, steps }) => {
    const walk = await startRightsWalk(stage, start, beginning);
    try {
      for (const step of steps) {
        const all = unguarded ? step.map((act) => ({ ...act, kind: unguarded })) : step;
        const results = await Promise.all(all.map((act) => carryOutAct(walk, act, unguarded)));
        for (const [i, result] of results.entries()) {
          const kind = `${all[i]?.kind}${result ? '' : ' refused'}`;
          done.set(kind, (done.get(kind) ?? 0) + 1);
        }
        expect(await grown(walk)).toEqual([]);
      }
    } finally {
      await walk.end();
    }
  });
}

describe('whatever several administrators under policies do, at once and one after the other', () => {
  test('nobody reaches more than they did, and than the several did together', async () => {
    const done = new Map<string, number>();
    await fc.assert(rightsNeverGrow(done), { numRuns: isLong ? 1000 : 50, endOnFailure: true });
    // Each of them was refused, and most were done.
    expect(guarded.filter((kind) => !done.has(`${kind} refused`))).toEqual([]);
    expect(guarded.filter((kind) => done.has(kind)).length).toBeGreaterThan(9);
    if (isLong) process.stdout.write(`${JSON.stringify([...done].sort())}\n`);
  }, 1_800_000);

  test.each(guarded)(
    '%s that does not ask is found',
    async (kind) => {
      const { failed } = await fc.check(rightsNeverGrow(new Map(), kind), {
        numRuns: 100,
        endOnFailure: true,
      });
      expect(failed).toBe(true);
    },
    600_000,
  );
});

describe('what is compared still stands when it is written', () => {
  type Entry = { resourceType: 'Task' | 'Patient' | 'Observation' | 'AccessPolicy' };
  const entries = (...types: Entry['resourceType'][]): Entry[] =>
    types.map((resourceType) => ({ resourceType }));
  const beginning = (own: Entry[], others: Entry[]) => ({
    policies: [own, entries('Task'), entries('Task'), others, others, others, others],
    parameters: [[], [], []],
    writes: [true, true, true],
  });
  const begin = (own = entries('Task', 'Patient')) =>
    startRightsWalk(stage, start, beginning(own, entries('Patient')));
  const write = (walk: RightsWalk, policy: Reference, ...types: Entry['resourceType'][]) =>
    writePolicy(walk.services, walk.root, { kind: 'update', id: idOf(policy), resource: entries(...types) });

  /** A table before whose first transaction, or second read, something else is done. */
  function meanwhile(
    walk: RightsWalk,
    call: 'transact' | 'read',
    work: () => Promise<unknown>,
  ): DeployServices {
    let before = call === 'read' ? 1 : 0;
    const table: Table = {
      ...walk.services.table,
      async [call](...args: never[]) {
        if (before === 0) await work();
        before -= 1;
        return (walk.services.table[call] as (...all: never[]) => Promise<never>)(...args);
      },
    };
    return { ...walk.services, table };
  }

  const person = { resourceType: 'Practitioner', firstName: 'Ann', lastName: 'Lee', sendEmail: false };
  const invited = (accessPolicy: Reference) => ({
    ...person,
    email: `${randomUUID()}@example.com`,
    accessPolicy,
  });

  /** What one of them does, and what root does at the same time. */
  const races: Record<
    string,
    {
      does(services: DeployServices, caller: Caller<'administrator'>, walk: RightsWalk): Promise<unknown>;
      meanwhile(walk: RightsWalk, caller: Caller): Promise<unknown>;
      at?: 'read';
    }
  > = {
    'an invite, while what the giver holds becomes less': {
      does: (services, caller, walk) => inviteUser(services, caller, invited(third(walk))),
      meanwhile: (walk) => write(walk, walk.policies[0] as Reference, 'Task'),
    },
    'an invite, while the giver is given another policy': {
      does: (services, caller, walk) => inviteUser(services, caller, invited(third(walk))),
      meanwhile: (walk, { membershipId }) =>
        changeMember(walk.services, walk.root, {
          membershipId,
          body: { access: [{ policy: walk.policies[1] }] },
        }),
    },
    'an invite, while the policy that is given becomes more': {
      does: (services, caller, walk) => inviteUser(services, caller, invited(third(walk))),
      meanwhile: (walk) => write(walk, third(walk), 'Patient', 'Observation'),
    },
    'a change of a member, while the policy that is given becomes more': {
      does: (services, caller, walk) =>
        changeMember(services, caller, {
          membershipId: walk.members[8] as string,
          body: { accessPolicy: third(walk), admin: false },
        }),
      meanwhile: (walk) => write(walk, third(walk), 'Patient', 'Observation'),
    },
    'a key, while the policy that is given becomes more': {
      does: (services, caller, walk) =>
        createClient(services, caller, { name: 'Key', accessPolicy: third(walk) }),
      meanwhile: (walk) => write(walk, third(walk), 'Patient', 'Observation'),
    },
    'a rotation, while what the client holds becomes more': {
      does: (services, caller, { clients: [, , , , clientId = ''] }) =>
        rotateSecret(services, caller, { clientId, receivedAtMs: Number.MAX_SAFE_INTEGER }),
      meanwhile: (walk) => write(walk, third(walk), 'Patient', 'Observation'),
    },
    'a deploy, while the Bot is given more': {
      does: (services, caller, { bots: [, botId = ''] }) =>
        deployBot(services, caller, { botId, body: { code: 'exports.handler = () => 1;' }, traceId: 't' }),
      meanwhile: async (walk) => {
        const membershipId = await membershipOfBot(walk, walk.bots[1] as string);
        await changeMember(walk.services, walk.root, { membershipId, body: { accessPolicy: null } });
      },
    },
    'a change of a Bot, while what it holds becomes more': {
      does: (services, caller, { bots: [, id = ''] }) => {
        const body = { resourceType: 'Bot', name: 'Mine', id };
        return carryOut(services, caller, [{ type: 'Bot', kind: 'update', id, body }]);
      },
      meanwhile: (walk) => write(walk, walk.policies[4] as Reference, 'Patient', 'Observation'),
    },
    'a policy, while what its writer holds becomes less': {
      does: (services, caller) =>
        writePolicy(services, caller, { kind: 'create', resource: entries('Patient') }),
      meanwhile: (walk) => write(walk, walk.policies[0] as Reference, 'Task', 'AccessPolicy'),
    },
  };
  const third = ({ policies }: RightsWalk) => policies[3] as Reference;

  test.each(Object.entries(races))('%s', async (_, race) => {
    for (const isRaced of [false, true]) {
      const walk = await begin();
      const [caller] = walk.narrowed;
      if (!caller) throw new Error('Nobody');
      const own: Caller<'administrator'> = { ...caller, admission: { ...caller.admission } };
      let raced = 0;
      const services = meanwhile(walk, race.at ?? 'transact', async () => {
        raced += 1;
        if (isRaced) await race.meanwhile(walk, own);
      });
      const doing = race.does(services, own, walk).then(
        () => 'done',
        ({ kind }: { kind?: string }) => kind,
      );
      expect([isRaced, await doing, raced]).toEqual([isRaced, isRaced ? refusedKind : 'done', 1]);
      await walk.end();
    }
  });
  const refusedKind = expect.stringMatching(/^(forbidden|conflict)$/);
});
