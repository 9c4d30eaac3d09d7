import { parseArgs } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { readRequest, taken } from '../../infra/local/provision.ts';
import { type OperatorRequest, requireFields } from '../../shared/identity/projects/requests.ts';

const asked = (line: string) => readRequest(parseArgs({ ...taken, args: line.split(' ') }).values).request;

describe('the command line of provision', () => {
  test.each<[string, object]>([
    [
      '--name Clinic --admin a@b.c --last-name Min --client --schedules 3',
      {
        name: 'Clinic',
        admin: { email: 'a@b.c', firstName: 'a', lastName: 'Min' },
        client: true,
        schedules: 3,
      },
    ],
    [
      '--project 1 --admin a@b.c',
      {
        project: '1',
        admin: { email: 'a@b.c', firstName: 'a', lastName: 'Administrator' },
      },
    ],
    [
      '--project 1 --resumed --no-disabled --no-audit-reads --features-off none --idle-minutes 0',
      {
        ...{
          project: '1',
          paused: false,
          disabled: false,
          auditReads: false,
          featuresOff: [],
          idleMinutes: 0,
        },
      },
    ],
    ['--project 1', { project: '1' }],
    ['--project 1 --recover a@b.c', { project: '1', recover: 'a@b.c' }],
    ['--project 1 --delete', { project: '1', delete: true }],
    ['--forget a@b.c', { forget: 'a@b.c' }],
    [
      '--issuer https://i.example --issuer-client x',
      { issuer: { issuer: 'https://i.example', clientId: 'x' } },
    ],
    ['--issuer https://i.example --remove', { issuer: { issuer: 'https://i.example', remove: true } }],
    [
      '--for-spec out --base-url https://a.example/ --stage dev',
      { forSpec: 'out', baseUrl: 'https://a.example' },
    ],
  ])('asks with %s for one thing, which the function takes', (line, request) => {
    expect(asked(line)).toEqual(request);
    if (!('forSpec' in request)) expect(() => requireFields(request as OperatorRequest)).not.toThrow();
  });

  test.each([
    ['--project 1 --recover a@b.c --disabled', '--disabled is not taken beside --recover'],
    ['--project 1 --delete --recover a@b.c', '--recover is not taken beside'],
    ['--project 1 --delete --paused', '--paused is not taken beside'],
    ['--project 1 --no-delete', 'There is no --no-delete'],
    ['--project 1 --no-paused', 'There is no --no-paused'],
    ['--project 1 --client', '--client is not taken beside'],
    ['--project 1 --name Clinic', '--project is not taken beside --name'],
    ['--project 1 --admin a@b.c --schedules 3', '--schedules is not taken beside'],
    ['--name Clinic --admin a@b.c --disabled', '--disabled is not taken beside'],
    ['--forget a@b.c --project 1', '--project is not taken beside --forget'],
    ['--issuer https://i.example --issuer-client x --remove', 'exclude each other'],
    ['--project 1 --paused --resumed', 'exclude each other'],
    ['--recover a@b.c', '--project is needed'],
    ['--name Clinic', '--admin is needed'],
    ['--client', '--name is needed'],
    ['--for-spec out --base-url https://a.example', '--stage is needed'],
    ['--project 1 --schedules 0', 'schedules must be a positive number'],
    ['--project 1 --undo', "Unknown option '--undo'"],
  ])('is refused with %s', (line, message) => {
    expect(() => asked(line)).toThrow(message);
  });
});

test.each<[object, string]>([
  [{}, 'asks for nothing'],
  [{ project: '1', delete: false }, 'delete must be true'],
  [{ forgetEarlierSecret: false }, 'forgetEarlierSecret must be true'],
  [{ project: '1', recover: 'a@b.c', disabled: true }, 'disabled does not go with recover'],
  [{ project: '1', forget: 'a@b.c' }, 'project does not go with forget'],
  [{ project: '1', disbled: true }, 'disbled does not go with project'],
  [{ project: '1', disabled: 'no' }, 'disabled must be true or false'],
])('the function refuses %j', (event, message) => {
  expect(() => requireFields(event as OperatorRequest)).toThrow(message);
});
