import { createRequire } from 'node:module';
import HL7 from 'hl7-standard';
import { Hl7Message } from '../../shared/bots/hl7/message.ts';

const require = createRequire(import.meta.url);

/** Elements as they are written: segments of fields of repetitions of components of subcomponents. */
export type Tree = { name: string; fields: string[][][][] }[];

type Leaf = string | string[];

/** npm `hl7`: `[name, …fields[repetition][component]]`; a component with subcomponents is an array. */
export function hl7Tree(text: string): Tree {
  const { parseString } = require('hl7') as { parseString(text: string): [string, ...Leaf[][][]][] | null };
  const read = parseString(text);
  if (!read) throw new Error('hl7 read nothing');
  return read.map(([name, ...fields]) => ({
    name,
    fields: fields
      .slice(name === 'MSH' ? 2 : 0)
      .map((field) => field.map((repetition) => repetition.map((component) => [component].flat()))),
  }));
}

interface SimpleComponent {
  value: Leaf[];
}
interface SimpleField {
  value: (SimpleComponent[] | SimpleField)[];
}

/** npm `simple-hl7`: a repeated field holds fields. */
export function simpleTree(text: string): Tree {
  // biome-ignore lint/correctness/noUnresolvedImports: its package.json names a folder as main
  const { Parser } = require('simple-hl7') as {
    Parser: new (options: {
      segmentSeperator: string;
    }) => { parse(text: string): { header: SimpleSegment; segments: SimpleSegment[] } };
  };
  interface SimpleSegment {
    name: string;
    fields: SimpleField[];
  }
  const { header, segments } = new Parser({ segmentSeperator: '\r' }).parse(text);
  const repetition = (components: SimpleComponent[]) => components.map(({ value }) => value.flat());
  return [header, ...segments].map(({ name, fields }) => ({
    name,
    fields: fields.map(({ value }) =>
      value.flatMap((part) =>
        Array.isArray(part)
          ? [repetition(part)]
          : part.value.map((inner) => repetition(inner as SimpleComponent[])),
      ),
    ),
  }));
}

/** npm `nodehl7`: fields split at component separators only; MSH begins with MSH-2. */
export async function nodeFields(text: string): Promise<{ name: string; fields: string[][] }[]> {
  const Parser = require('nodehl7') as new (
    options: object,
  ) => {
    parse(text: string, id: string): Promise<{ segments: { typeofSegment: string; parts: Leaf[] }[] }>;
  };
  const { segments } = await new Parser({ mapping: false, logger: { error: () => undefined } }).parse(
    text,
    'sample',
  );
  return segments.map(({ typeofSegment, parts }) => ({
    name: typeofSegment,
    fields: parts.slice(typeofSegment === 'MSH' ? 1 : 0).map((part) => [part].flat()),
  }));
}

/** npm `hl7-standard` on the text as it was sent, not normalised: first components of first repetitions. */
export function standardValue(text: string, path: string): unknown {
  const message = new HL7(text);
  message.transform();
  return message.get(path);
}

/** The same of our own. */
export function portico(text: string): Tree {
  const message = Hl7Message.parse(text);
  return message.segments.map((segment) => ({
    name: segment.name,
    fields: segment.fields
      .slice(segment.name === 'MSH' ? 2 : 1)
      .map(({ components }) =>
        components.map((repetition) =>
          repetition.map((component) => component.split(message.context.subcomponentSeparator)),
        ),
      ),
  }));
}
