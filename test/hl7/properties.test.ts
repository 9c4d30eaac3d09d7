import { describe, expect, test } from '@jest/globals';
import { charsetOf } from '../../shared/bots/hl7/charset.ts';
import { Hl7Message } from '../../shared/bots/hl7/message.ts';
import { normalise } from '../../shared/bots/hl7/standard.ts';
import { encode, Hl7Error } from '../../shared/bots/hl7/text.ts';
import fc from '../setup/fast-check.ts';
import { casesOf } from '../setup/long.ts';
import { contexts, segments } from './arbitraries.ts';

const generated = fc.tuple(contexts, segments).map(([context, body]) => {
  const header = ['MSH', context.getMsh2(), 'A'].join(context.fieldSeparator);
  const lines = body.map(([name, fields]) => {
    const written = fields.map((repetitions) =>
      repetitions
        .map((components) =>
          components
            .map((parts) => parts.map((part) => encode(part, context)).join(context.subcomponentSeparator))
            .join(context.componentSeparator),
        )
        .join(context.repetitionSeparator),
    );
    return [name, ...written].join(context.fieldSeparator);
  });
  return { context, body, text: [header, ...lines].join('\r') };
});

describe('any message', () => {
  test('prints as it was read, untouched and opened', () => {
    fc.assert(
      fc.property(generated, ({ text }) => {
        const message = Hl7Message.parse(text);
        expect(message.toString()).toBe(text);
        for (const segment of message.segments) {
          expect(segment.fields.length).toBeGreaterThan(0);
        }
        expect(message.toString()).toBe(text);
      }),
    );
  });

  test('gives every value by its path, also after normalising', () => {
    fc.assert(
      fc.property(generated, ({ text, body }) => {
        for (const message of [Hl7Message.parse(text), Hl7Message.parse(normalise(text))]) {
          const seen = new Map<string, number>();
          for (const [name, fields] of body) {
            const occurrence = (seen.get(name) ?? 0) + 1;
            seen.set(name, occurrence);
            for (const [path, value] of pathsOf(`${name}[${occurrence}]`, fields)) {
              expect([path, message.get(path)]).toEqual([path, value === '' ? undefined : value]);
            }
          }
        }
      }),
    );
  });

  test('gives back what was set', () => {
    fc.assert(
      fc.property(
        generated,
        fc.string({ minLength: 1 }),
        fc.nat(9),
        fc.nat(3),
        (message, value, field, component) => {
          const changed = Hl7Message.parse(message.text);
          const path = `MSH.${field + 3}[2].${component + 1}.2`;
          expect(changed.set(path, value)).toBe(true);
          expect(changed.get(path)).toBe(value);
          expect(Hl7Message.parse(changed.toString()).get(path)).toBe(value);
        },
      ),
    );
  });

  test('is acknowledged by a message that can be read', () => {
    fc.assert(
      fc.property(generated, fc.string(), ({ text }, reason) => {
        const ack = Hl7Message.parse(
          Hl7Message.parse(text).buildAck({ ackCode: 'AE', text: reason }).toString(),
        );
        expect(ack.get('MSA.1')).toBe('AE');
        expect(ack.get('MSA.3')).toBe(reason === '' ? undefined : reason);
      }),
    );
  });
});

describe('any text', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string().map((rest) => `MSH${rest}`),
    fc
      .array(
        fc.constantFrom(
          'MSH',
          'PID',
          '|',
          '^',
          '~',
          '\\',
          '&',
          '#',
          '\r',
          '\n',
          '\v',
          '\u001C',
          '\uFEFF',
          'x',
          '""',
        ),
      )
      .map((parts) => `MSH|^~\\&${parts.join('')}`),
  );

  test('is a message or an Hl7Error, nothing else', () => {
    fc.assert(
      fc.property(texts, fc.string(), (text, path) => {
        try {
          charsetOf(text);
          const message = Hl7Message.parse(text);
          message.buildAck({ ackCode: 'AR' });
          message.getAllSegments('PID').flatMap((segment) => segment.fields);
          normalise(text);
          message.get(path);
        } catch (error) {
          expect(error).toBeInstanceOf(Hl7Error);
        }
      }),
      { numRuns: casesOf(1000) },
    );
  });
});

function* pathsOf(segment: string, fields: string[][][][]): Generator<[path: string, value: string]> {
  for (const [f, repetitions] of fields.entries()) {
    for (const [r, components] of repetitions.entries()) {
      for (const [c, parts] of components.entries()) {
        for (const [s, part] of parts.entries()) {
          yield [`${segment}.${f + 1}[${r + 1}].${c + 1}.${s + 1}`, part];
        }
      }
    }
  }
}
