import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Hl7Message as MedplumMessage } from '@medplum/core';
import { Hl7Message } from '../../shared/bots/hl7/message.ts';
import { expectSameAsMedplum } from './medplum.ts';
import { hl7Tree, nodeFields, portico, simpleTree, standardValue } from './other-parsers.ts';

const require = createRequire(import.meta.url);
const ours = resolve(import.meta.dirname, '../../../shared/data/hl7v2');
/** Sample messages that came with the packages; read where they lie. */
const folders = [
  [ours, ''],
  ['hl7-standard', 'tests/data'],
  ['hl7-standard', 'examples/data'],
  ['simple-hl7', 'test/samples'],
  ['hl7', 'test/fixtures'],
  ['nodehl7', 'test/testfiles'],
].map(([home = '', under = '']) => (home === ours ? ours : join(homeOf(home), under)));

const samples = folders.flatMap((folder) =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => /\.(?:hl7|txt|adm)$/.test(file))
        .flatMap((file) =>
          messagesIn(readFileSync(join(folder, file), 'utf8')).map((text, i) => ({
            name: `${file} ${i + 1}`,
            text,
          })),
        )
    : [],
);

function homeOf(name: string): string {
  let folder = dirname(require.resolve(name));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

/** The messages of a file, CR behind each segment; prose and batch segments between them are left out. */
function messagesIn(file: string): string[] {
  const messages: string[][] = [];
  for (const line of file.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    if (line.startsWith('MSH')) messages.push([line]);
    else if (/^[A-Z][A-Z0-9]{2}\|/.test(line) && !/^(?:FHS|BHS|BTS|FTS)/.test(line))
      messages.at(-1)?.push(line);
  }
  return messages.map((lines) => lines.join('\r'));
}

/** What all five are meant for: the usual separators, no escapes, no blanks at the end of a line. */
const plain = samples.filter(
  ({ text }) => /^MSH\|\^~\\&\|[^\\]*$/.test(text) && !/[ \t]\r|[ \t]$/.test(text),
);

/** One has lost the backslash of its MSH-2: see the differences below. */
const separated = samples.filter(({ text }) => !/^MSH\S* /.test(text.slice(0, 9)));

test('there are samples to read', () => {
  expect(samples.length).toBeGreaterThan(20);
  expect(plain.length).toBeGreaterThan(samples.length / 2);
});

describe.each(separated)('$name', ({ text }) => {
  test('prints as it was read, as with @medplum/core', () => {
    expect(Hl7Message.parse(text).toString()).toBe(text);
    expect(MedplumMessage.parse(text).toString()).toBe(text);
    expectSameAsMedplum(text);
  });
});

describe.each(plain)('$name', ({ text }) => {
  test('has the elements that hl7, simple-hl7 and nodehl7 see', async () => {
    const tree = portico(text);
    expect(hl7Tree(text)).toEqual(tree);
    expect(simpleTree(text)).toEqual(tree);
    const joined = tree.map(({ name, fields }) => ({
      name,
      fields: fields.map((field) =>
        field
          .map((repetition) => repetition.map((parts) => parts.join('&')).join('^'))
          .join('~')
          .split('^'),
      ),
    }));
    expect(await nodeFields(text)).toEqual(joined);
  });
});

const head = 'MSH|^~\\&|A|B|C|D|2026||ADT^A01|1|P|2.5.1';
const own = 'MSH#*+!%#A#B#C#D#2026##ADT*A01#1#P#2.5.1';
const first = (text: string) => Hl7Message.parse(text).get('PID.5.1');

/** Where they differ; the table in shared/bots/hl7/README.md says why. */
describe('where other parsers leave the standard', () => {
  test('escapes (2.7): only nodehl7 decodes, and takes \\F\\ and \\S\\ for each other', async () => {
    const text = `${head}\rPID|||1||x\\F\\y\\S\\z`;
    expect(first(text)).toBe('x|y^z');
    expect((await nodeFields(text))[1]?.fields[4]).toEqual(['x^y|z']);
    expect(hl7Tree(text)[1]?.fields[4]).toEqual([[['x\\F\\y\\S\\z']]]);
    expect(simpleTree(text)[1]?.fields[4]).toEqual([[['x\\F\\y\\S\\z']]]);
    expect(standardValue(`${text}\r`, 'PID.5')).toBe('x\\F\\y\\S\\z');
  });

  test('own separators (2.5.4): simple-hl7 and hl7-standard know the usual ones only', async () => {
    const text = `${own}\rPID###1##Muster*Lena`;
    expect(first(text)).toBe('Muster');
    expect(hl7Tree(text)[1]?.fields[4]).toEqual([[['Muster'], ['Lena']]]);
    expect((await nodeFields(text))[1]?.fields[4]).toEqual(['Muster', 'Lena']);
    expect(simpleTree(text)[1]?.name).toBe('PID###1##Muster*Lena');
    expect(standardValue(`${text}\r`, 'PID.5.1')).not.toBe('Muster');
  });

  test('line feeds: hl7, simple-hl7 and nodehl7 read one segment', async () => {
    const text = `${head}\nPID|||1||Muster^Lena`;
    expect(first(text)).toBe('Muster');
    expect(MedplumMessage.parse(text).segments).toHaveLength(2);
    expect(hl7Tree(text)).toHaveLength(1);
    expect(simpleTree(text)).toHaveLength(1);
    expect(await nodeFields(text)).toHaveLength(1);
  });

  test('a byte order mark and MLLP framing: only ours takes them off', async () => {
    for (const text of [`\uFEFF${head}\rPID|||1||Muster`, `\v${head}\rPID|||1||Muster\r\u001C\r`]) {
      expect(first(text)).toBe('Muster');
      expect(() => MedplumMessage.parse(text)).toThrow();
      expect(() => hl7Tree(text)).toThrow('nothing');
      expect(() => standardValue(text, 'PID.5.1')).toThrow();
    }
  });

  test('a blank among the separators: ours refuses it, since words would be read as escapes', () => {
    const [text = '', ...others] = samples
      .filter((sample) => !separated.includes(sample))
      .map(({ text }) => text);
    expect(others).toEqual([]);
    expect(text.slice(0, 9)).toBe('MSH|^~ &|');
    expect(() => Hl7Message.parse(text)).toThrow('must name its separators');
    expect(MedplumMessage.parse(text).context.escapeCharacter).toBe(' ');
  });

  test('a repetition: nodehl7 takes it for a part of the component', async () => {
    const text = `${head}\rPID|||1^^^A~2^^^B`;
    expect(Hl7Message.parse(text).getAll('PID.3.1')).toEqual(['1', '2']);
    expect((await nodeFields(text))[1]?.fields[2]).toEqual(['1', '', '', 'A~2', '', '', 'B']);
  });

  test('blanks at the end of a segment: nodehl7 takes them off', async () => {
    const text = `${head}\rNTE|1||note  \rPID|||1`;
    expect(Hl7Message.parse(text).get('NTE.3')).toBe('note  ');
    expect((await nodeFields(text))[1]?.fields[2]).toEqual(['note']);
  });

  test('an acknowledgement of an error: @medplum/core says neither where nor why', () => {
    const text = `${head}\rPID|||1`;
    const theirs = MedplumMessage.parse(text).buildAck({ ackCode: 'AE' });
    expect(theirs.getSegment('ERR')).toBeUndefined();
    expect(Hl7Message.parse(text).buildAck({ ackCode: 'AE' }).get('ERR.3.1')).toBe('207');
  });
});
