import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parseCommandLine } from '../../mllp/src/settings/command-line.ts';
import { allowList, isLoopback, parseAddress } from '../../mllp/src/settings/fields.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-mllp-settings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const parse = (...args: string[]) => parseCommandLine(args, folder);
const listener = { listen: '2575', bot: 'b' };
const complete = { service: 'https://p.example.org', clientId: 'c' };

function parseFile(settings: unknown) {
  writeFileSync(
    join(folder, 'mllp.json'),
    typeof settings === 'string' ? settings : JSON.stringify(settings),
  );
  return parse('--config', 'mllp.json');
}

test('a file of settings is read, its paths from its own folder', () => {
  const allow = ['10.1.0.0/16'];
  const command = parseFile({
    ...complete,
    clientSecretFile: 'secret',
    healthPort: 9575,
    listeners: [
      listener,
      {
        listen: '0.0.0.0:2576',
        bot: 'https://a|b|c',
        allow,
        tls: { cert: 'c.pem', key: 'k.pem', ca: '/ca.pem' },
      },
    ],
  });
  expect(command).toMatchObject({
    kind: 'serve',
    settings: {
      service: 'https://p.example.org/',
      clientSecretFile: join(folder, 'secret'),
      timeoutMs: 30_000,
      concurrency: 16,
      healthPort: 9575,
      listeners: [
        { address: { host: '127.0.0.1', port: 2575 }, bot: 'b', acknowledge: 'as-asked', idleMs: 3_600_000 },
        {
          address: { host: '0.0.0.0', port: 2576 },
          bot: { system: 'https://a', value: 'b|c' },
          tls: { cert: join(folder, 'c.pem'), key: join(folder, 'k.pem'), ca: '/ca.pem' },
        },
      ],
    },
  });
});

test('options say what a file would', () => {
  const options = [
    '--service',
    'https://p.example.org',
    '--client-id',
    'c',
    '--bot',
    'b',
    '--listen',
    '2575',
  ];
  expect(parse(...options)).toEqual(parseFile({ ...complete, listeners: [listener] }));
  const { settings } = parse(...options, '--allow', '10.0.0.1,10.0.0.2', '--allow', '::1') as {
    settings: { listeners: { allows(address: string): boolean }[] };
  };
  const allows = ['10.0.0.1', '10.0.0.2', '::1', '10.0.0.3'].map((one) => settings.listeners[0]?.allows(one));
  expect(allows).toEqual([true, true, true, false]);
});

describe('refused is a file with', () => {
  test.each<[unknown, string]>([
    ['{', 'The settings are not JSON'],
    ['[]', 'The settings must be a JSON object'],
    [{}, 'service is missing'],
    [{ service: 'http://portico.example.org' }, 'service must be an https address'],
    [{ service: 'https://user:Quokka@portico.example.org' }, 'service must be an https address'],
    [{ service: 'https://127.0.0.1.example.org?x' }, 'service must be an https address'],
    [{ service: 7 }, 'service must be a text'],
    [complete, 'listeners is missing'],
    [{ ...complete, listeners: {} }, 'listeners must be a list of objects'],
    [{ ...complete, clientSecret: 'Quokka', listeners: [listener] }, 'clientSecret is not a setting'],
    [
      { ...complete, timeoutSeconds: '30', listeners: [listener] },
      'timeoutSeconds must be a whole number from 1 to 300',
    ],
    [{ ...complete, listeners: [listener, listener] }, 'Two listeners have 127.0.0.1:2575'],
  ])('%j', (settings, text) => {
    expect(() => parseFile(settings)).toThrow(new Error(text));
  });

  test.each<[object, string]>([
    [{ bot: 'system|' }, 'bot must be an id or system|value'],
    [{ listen: 'a:b' }, 'listen must be a port or host:port'],
    [{ listen: '70000' }, 'listen must be a port or host:port'],
    [{ listen: undefined }, 'listen is missing'],
    [{ listen: '0.0.0.0:2575' }, 'listen is reachable from elsewhere: it needs allow, or tls with ca'],
    [
      { listen: '[::]:1', tls: { cert: 'c', key: 'k' } },
      'listen is reachable from elsewhere: it needs allow, or tls with ca',
    ],
    [
      { allow: ['10.0.0.0/33'] },
      'allow must be addresses or networks such as 10.1.0.0/16, not "10.0.0.0/33"',
    ],
    [
      { allow: ['example.org'] },
      'allow must be addresses or networks such as 10.1.0.0/16, not "example.org"',
    ],
    [{ allow: '10.0.0.0/8' }, 'allow must be a list of texts'],
    [{ allow: ['10.0.0.0/8', 10] }, 'allow must be a list of texts'],
    [{ tls: { ca: 'x' } }, 'tls needs cert and key'],
    [{ tls: { pfx: 'x' } }, 'tls.pfx is not a setting'],
    [{ idleSeconds: 0 }, 'idleSeconds must be a whole number from 1 to 86400'],
    [{ acknowledge: 'never' }, 'acknowledge must be as-asked or original'],
    [{ colour: 1 }, 'colour is not a setting'],
  ])('a listener of %j', (fields, text) => {
    const settings = { ...complete, listeners: [{ ...listener, ...fields }] };
    expect(() => parseFile(settings)).toThrow(new Error(`listeners[0].${text}`));
  });
});

describe('refused are the options', () => {
  test.each<[string[], string]>([
    [
      ['--client-secret', 'Quokka'],
      '--client-secret is no option: use PORTICO_CLIENT_SECRET or --client-secret-file',
    ],
    [
      ['--client-secret=Quokka'],
      '--client-secret is no option: use PORTICO_CLIENT_SECRET or --client-secret-file',
    ],
    [['--colour'], '--colour is no option'],
    [['--listen'], 'An option has no value, or one too many'],
    [['--check=Quokka'], 'An option has no value, or one too many'],
    [['--listen', '2575'], '--service is missing'],
    [
      [
        '--service',
        'https://p',
        '--client-id',
        'c',
        '--bot',
        'b',
        '--listen',
        '1',
        '--idle-timeout',
        'Quokka',
      ],
      '--idle-timeout must be a whole number from 1 to 86400',
    ],
    [['--config', 'x.json', '--listen', '2575'], '--listen does not belong to the other options'],
    [['--listen', '2575', '--attempts', '3'], '--attempts does not belong to the other options'],
    [['--send', 'localhost:1', '--bot', 'b'], '--bot does not belong to the other options'],
    [['--send', 'x y:1'], '--send must be a port or host:port'],
    [['--config', 'nowhere.json'], 'The settings cannot be read: ENOENT'],
    [['file.hl7'], 'Files are sent with --send host:port'],
  ])('%j', (args, text) => {
    expect(() => parse(...args)).toThrow(new Error(text));
  });
});

describe('an address', () => {
  test.each([
    ['2575', { host: '127.0.0.1', port: 2575 }],
    ['engine.local:1', { host: 'engine.local', port: 1 }],
    ['[::1]:2575', { host: '::1', port: 2575 }],
    ['0.0.0.0:0', { host: '0.0.0.0', port: 0 }],
  ])('%s is read', (text, address) => expect(parseAddress(text)).toEqual(address));

  test.each(['', ':2575', '::1:2575', 'a b:1', 'a:65536', 'http://a:1', 'a:1x'])('%j is none', (text) => {
    expect(() => parseAddress(text)).toThrow('must be a port or host:port');
  });

  test.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['localhost', true],
    ['[::1]', true],
    ['127.evil.example.org', false],
    ['0.0.0.0', false],
    ['::', false],
  ])('%s: only this machine reaches it: %s', (host, expected) => expect(isLoopback(host)).toBe(expected));

  test.each([
    ['10.1.2.3', true],
    ['::ffff:10.1.2.3', true],
    ['10.2.0.0', false],
    ['192.168.7.7', true],
    ['192.168.7.8', false],
    ['2001:db8::1', true],
    ['2001:db9::1', false],
    ['', false],
  ])('%s may connect: %s', (address, expected) => {
    expect(allowList(['10.1.0.0/16', '192.168.7.7', '2001:db8::/32'])(address)).toBe(expected);
  });

  test('of any kind may connect where all of them are named', () => {
    expect(['1.2.3.4', '::1'].map(allowList(['0.0.0.0/0', '::/0']))).toEqual([true, true]);
  });
});
