import { describe, expect, test } from '@jest/globals';
import fc from '../setup/fast-check.ts';
import { administratorModel } from './administrators.ts';
import { botModel } from './bots.ts';
import { invitationModel } from './invitations.ts';
import { recordModel } from './records.ts';
import { explain, linearise, type Model, type Operation } from './search.ts';

/** Without an output nobody was told, and the second instant says nothing. */
type Line<Input, Output> = [calledAt: number, returnedAt: number, input: Input, output?: Output];

/** Whether an order explains the lines. */
type Case<Input, Output> = [isLinearizable: boolean, ...Line<Input, Output>[]];

function historyOf<Input, Output>(lines: readonly Line<Input, Output>[]): Operation<Input, Output>[] {
  return lines.map(([calledAt, at, input, output], client) => {
    const returnedAt = output === undefined ? Number.POSITIVE_INFINITY : at;
    return { client, input, output, calledAt, returnedAt };
  });
}

function judges<State, Input, Output>(
  model: Model<State, Input, Output>,
  cases: Record<string, Case<Input, Output>>,
): void {
  test.each(Object.entries(cases))('%s', (_, [expected, ...lines]) => {
    const history = historyOf(lines);
    const verdict = linearise(model, history);
    if (verdict.isLinearizable !== expected) throw new Error(explain(history, verdict));
  });
}

describe('invitations', () => {
  const invite = { project: 0, do: 'invite', upsert: false } as const;
  const upsert = { project: 0, do: 'invite', upsert: true, admin: true } as const;
  const at = { project: 0, id: 'a' } as const;
  const member = { id: 'a', user: 'u', profile: 'p', state: 'pending', admin: false, active: false };
  const said = (did: string, change: Partial<typeof member> = {}) => ({
    status: 200,
    member: { ...member, ...change },
    did,
  });
  const shown = (change: Partial<typeof member> = {}) => ({ status: 200, member: { ...member, ...change } });
  const revoked = shown({ state: 'revoked' });
  const accept = { ...at, do: 'accept', user: 'u' } as const;

  judges(invitationModel, {
    'of two invites at once one makes it, the other finds it': [
      true,
      [1, 4, invite, said('created')],
      [2, 3, invite, said('kept')],
    ],
    'two invites make two members (no condition on the person)': [
      false,
      [1, 4, invite, said('created')],
      [2, 3, invite, said('created', { id: 'b', profile: 'q' })],
    ],
    'two Projects make two Users of one address (no condition on the address)': [
      false,
      [1, 4, invite, said('created')],
      [2, 3, { ...invite, project: 1 }, said('created', { id: 'b', user: 'v', profile: 'q' })],
    ],
    'two Projects make one User': [
      true,
      [1, 4, invite, said('created')],
      [2, 3, { ...invite, project: 1 }, said('created', { id: 'b', profile: 'q' })],
    ],
    'an invite keeps a link that was revoked before (a stale read)': [
      false,
      [1, 2, invite, said('created')],
      [3, 4, { ...at, do: 'revoke' }, revoked],
      [5, 6, invite, said('kept')],
    ],
    'an upsert goes by rights that were changed before (a stale read)': [
      false,
      [1, 2, invite, said('created')],
      [3, 4, { ...at, do: 'change', admin: true }, shown({ admin: true })],
      [5, 6, upsert, said('renewed', { admin: true })],
    ],
    'an invitation is accepted after it was revoked': [
      false,
      [1, 2, invite, said('created')],
      [3, 4, { ...at, do: 'revoke' }, revoked],
      [5, 6, accept, { status: 200 }],
    ],
    'or while it is revoked, which then comes too late': [
      true,
      [1, 2, invite, said('created')],
      [3, 6, { ...at, do: 'revoke' }, { status: 409 }],
      [4, 5, accept, { status: 200 }],
    ],
    'but not both': [
      false,
      [1, 2, invite, said('created')],
      [3, 6, { ...at, do: 'revoke' }, revoked],
      [4, 5, accept, { status: 200 }],
    ],
    'a link is followed that another has replaced': [
      false,
      [1, 2, invite, said('created')],
      [3, 4, { ...at, do: 'resend' }, shown()],
      [5, 6, { ...at, do: 'follow link', generation: 1 }, { status: 200 }],
    ],
    'an invite whose function died took effect much later': [
      true,
      [1, 0, invite],
      [2, 3, { ...invite, admin: true }, said('created', { admin: true })],
      [4, 5, { ...at, do: 'remove' }, { status: 200 }],
      [6, 7, { ...at, do: 'read' }, { status: 404 }],
      [8, 9, invite, said('kept', { id: 'b' })],
    ],
    'or never': [true, [1, 0, invite], [2, 3, { ...invite, admin: true }, said('created', { admin: true })]],
    'but not before it was sent': [
      false,
      [1, 2, { ...invite, admin: true }, said('kept', { admin: true })],
      [3, 0, { ...invite, admin: true }],
    ],
    'a profile is deleted under its member (no condition on the profile)': [
      false,
      [1, 2, invite, said('created')],
      [3, 4, { ...at, do: 'remove' }, { status: 200 }],
      [5, 8, invite, said('created', { id: 'b' })],
      [6, 7, { project: 0, do: 'delete profile', profile: 'p' }, { status: 200 }],
      [9, 10, { project: 0, do: 'read', id: 'b' }, shown({ id: 'b' })],
    ],
    'a change undoes another (no condition on the version)': [
      false,
      [1, 2, invite, said('created')],
      [3, 6, { ...at, do: 'change', admin: true }, shown({ admin: true })],
      [4, 5, { ...at, do: 'revoke' }, revoked],
      [7, 8, { ...at, do: 'read' }, shown({ admin: true })],
    ],
  });
});

describe('administrators', () => {
  const demote = (who: 0 | 1) => ({ who, do: 'change', admin: false }) as const;
  const demoted = { status: 200, admin: false, active: true };
  judges(administratorModel, {
    'both go at once': [false, [1, 4, demote(0), demoted], [2, 3, demote(1), demoted]],
    'one of two goes': [true, [1, 4, demote(0), demoted], [2, 3, demote(1), { status: 400 }]],
    'one is called the last who is not': [
      false,
      [1, 4, demote(0), demoted],
      [2, 3, demote(0), { status: 400 }],
    ],
    'a token outlives the member': [
      false,
      [1, 2, { who: 0, do: 'remove' }, { status: 200 }],
      [3, 4, { who: 0, do: 'me' }, { status: 200 }],
    ],
    'a token comes back with the activity': [
      false,
      [1, 2, { who: 0, do: 'change', active: false }, { status: 200, admin: true, active: false }],
      [3, 4, { who: 0, do: 'change', active: true }, { status: 200, admin: true, active: true }],
      [5, 6, { who: 0, do: 'me' }, { status: 200 }],
    ],
  });
});

describe('a record', () => {
  const create = (value: number) => ({ do: 'create unless there', value }) as const;
  const update = (value: number, ifMatch = 'v1') => ({ do: 'update', id: 'r', ifMatch, value }) as const;
  const read = { do: 'read', id: 'r' } as const;
  const says = (value: number, version = `v${value}`, status = 200, id = 'r') => ({
    status,
    found: { id, version, value },
  });
  const made: Line<ReturnType<typeof create>, ReturnType<typeof says>> = [
    1,
    2,
    create(1),
    says(1, 'v1', 201),
  ];

  judges(recordModel, {
    'of two updates with one If-Match one is refused': [
      true,
      made,
      [3, 6, update(2), says(2)],
      [4, 5, update(3), { status: 412 }],
    ],
    'both are done (If-Match looked at before, and not when it is written)': [
      false,
      made,
      [3, 6, update(2), says(2)],
      [4, 5, update(3), says(3)],
    ],
    'an update with a version that is over is done (If-Match not looked at)': [
      false,
      made,
      [3, 4, update(2), says(2)],
      [5, 6, update(3), says(3)],
    ],
    'an update is refused that had its version': [false, made, [3, 4, update(2), { status: 412 }]],
    'two creates of one condition are done (no lock)': [
      false,
      [1, 4, create(1), says(1, 'v1', 201)],
      [2, 3, create(2), says(2, 'v2', 201, 's')],
    ],
    'an upsert makes another beside what was there (a stale read)': [
      false,
      made,
      [3, 4, { do: 'create or update', value: 2 }, says(2, 'v2', 201, 's')],
    ],
    'what was read is read no more': [
      false,
      made,
      [3, 8, update(2), says(2)],
      [4, 5, read, says(2)],
      [6, 7, read, says(1)],
    ],
    'what nobody was told is read': [true, made, [3, 0, update(2)], [4, 5, read, says(2)]],
    'and is at its version from then on': [
      true,
      made,
      [3, 0, update(2)],
      [4, 5, read, says(2, 'v7')],
      [6, 7, update(3, 'v7'), says(3)],
    ],
    'a value that nobody wrote': [false, made, [3, 4, read, says(9)]],
    'a deleted one is made again under its id': [
      true,
      made,
      [3, 4, { do: 'delete', id: 'r' }, { status: 200 }],
      [5, 6, { do: 'create or update', value: 2 }, says(2, 'v2', 201)],
      [7, 8, read, says(2)],
    ],
    'perhaps by somebody who was not told': [
      true,
      made,
      [3, 4, { do: 'delete', id: 'r' }, { status: 200 }],
      [5, 0, { do: 'create or update', value: 2 }],
      [6, 7, read, { status: 410 }],
      [8, 9, read, says(2)],
    ],
  });
});

describe('Bots', () => {
  const run = { do: 'execute', bot: 0 } as const;
  const runNamed = { do: 'execute by identifier' } as const;
  const ran = (version: number) => ({ status: 200, version });
  const deploy = { do: 'deploy', bot: 0, version: 9 } as const;
  const done = { status: 200 };
  judges(botModel, {
    'the old version or the new one, while it is deployed': [
      true,
      [1, 6, deploy, done],
      [2, 3, run, ran(2)],
      [4, 5, run, ran(9)],
    ],
    'the old one after the new one': [false, [1, 6, deploy, done], [2, 3, run, ran(9)], [4, 5, run, ran(2)]],
    'the old one after the deploy (a pointer that was remembered)': [
      false,
      [1, 2, deploy, done],
      [3, 4, run, ran(2)],
    ],
    'an identifier leads to who had it before (a name that was remembered)': [
      false,
      [1, 2, { do: 'take identifier', bot: 0 }, done],
      [3, 4, { do: 'give identifier up', bot: 0 }, done],
      [5, 6, { do: 'take identifier', bot: 1 }, done],
      [7, 8, runNamed, ran(2)],
    ],
    'two have it': [
      false,
      [1, 4, { do: 'take identifier', bot: 0 }, done],
      [2, 3, { do: 'take identifier', bot: 1 }, done],
    ],
  });
});

type Register = { write: number } | 'read';
/** The least that there is: one number, 0 in the beginning. */
const register: Model<number, Register, number> = {
  initial: 0,
  step(state, input, output) {
    if (input === 'read') return output === undefined || output === state ? [state] : [];
    return output === undefined || output === 0 ? [input.write] : [];
  },
};

const small = fc.nat(2);
const operation = fc.record({
  client: fc.nat(2),
  input: fc.oneof(
    small.map((write): Register => ({ write })),
    fc.constant<Register>('read'),
  ),
  output: fc.option(small, { nil: undefined, freq: 4 }),
  lasts: fc.integer({ min: 1, max: 4 }),
  calledAt: fc.nat(6),
});

/** Tries every order of every choice of the operations that were not answered. */
function bruteForce(history: readonly Operation<Register, number>[]): boolean {
  function goOn(state: number, left: readonly Operation<Register, number>[]): boolean {
    if (left.every(({ output }) => output === undefined)) return true;
    return left.some((next) => {
      if (left.some(({ returnedAt }) => returnedAt < next.calledAt)) return false;
      const rest = left.filter((one) => one !== next);
      return register.step(state, next.input, next.output).some((after) => goOn(after, rest));
    });
  }
  return goOn(register.initial, history);
}

test('the search finds what trying every order finds', () => {
  let linearizable = 0;
  let others = 0;
  const agrees = fc.property(fc.array(operation, { maxLength: 6 }), (drawn) => {
    const history = drawn.map(({ calledAt, lasts, input, ...one }, n) => {
      const output = one.output !== undefined && input !== 'read' ? 0 : one.output;
      const returnedAt = output === undefined ? Number.POSITIVE_INFINITY : 10 * (calledAt + lasts) + n;
      return { ...one, input, output, calledAt: 10 * calledAt + n, returnedAt };
    });
    const expected = bruteForce(history);
    if (expected) linearizable += 1;
    else others += 1;
    expect(linearise(register, history).isLinearizable).toBe(expected);
  });
  fc.assert(agrees, { numRuns: 2000 });
  expect(Math.min(linearizable, others)).toBeGreaterThan(300);
});

test('a long history of many at once is judged without trying every order', () => {
  const history = historyOf<Register, number>(
    Array.from({ length: 40 }, (_, n) => [n, 100 + n, { write: n }, 0]),
  );
  const wrong = [...history, ...historyOf<Register, number>([[200, 201, 'read', 77]])];
  const { isLinearizable, looked } = linearise(register, history);
  expect([isLinearizable, looked]).toEqual([true, 40]);
  expect(linearise(register, wrong.slice(30)).isLinearizable).toBe(false);
});
