import { createHash } from 'node:crypto';

/** Which part of a HumanName a word stands in. */
export type NamePart = 'family' | 'given' | 'other';

/** How a sort key says where a word stands. */
const partLetters: Readonly<Record<NamePart, string>> = { family: 'f', given: 'g', other: 'x' };

/** A stretch of one partition of an index: where the items of a searched value are. */
export interface Span {
  bucket: string;
  /** Only sort keys that begin so. */
  prefix?: string;
  /** Only sort keys from here on, this one included. */
  from?: string;
  /** Only sort keys up to here, this one included. */
  to?: string;
  /** Only words of this part of a name. */
  part?: NamePart;
}

/** A span, and the index that it is of. */
export interface Stretch extends Span {
  index: string;
}

/** One index item of a resource: its partition, and what stands before the id in its sort key. */
export interface Place {
  bucket: string;
  sort?: string;
}

/** The index that is none: its bucket is the id of the one resource in it. */
export const idIndex = '_id';

/** By which a stretch is known in a cursor, and ordered among others: nothing of its values shows. */
export function nameOfStretch({ index, bucket, prefix, from, to, part }: Stretch): string {
  return bucketOf(
    JSON.stringify([index, bucket, prefix ?? 0, from ?? 0, to ?? 0, ...(part === undefined ? [] : [part])]),
  );
}

export function stretchesOf(index: string, spans: readonly Span[]): Stretch[] {
  return spans.map((span) => ({ index, ...span }));
}

export function isInside({ bucket, prefix, from, to, part }: Span, at: string, sk: string): boolean {
  if (bucket !== at || (part !== undefined && !isOfPart(sk, part))) return false;
  if (prefix !== undefined) return sk.startsWith(prefix);
  return (from === undefined || sk >= from) && (to === undefined || sk <= to);
}

/**
 * What stands in the sort key of a name's word, before the id: the word, and the parts that it stands in.
 * So one item leads to it from searches for any part.
 */
export function wordOfParts(word: string, parts: ReadonlySet<NamePart>): string {
  return `${word}#${[...parts]
    .map((part) => partLetters[part])
    .sort()
    .join('')}`;
}

/** Whether the word of an item stands in a part. Items of earlier releases do not say: it may. */
function isOfPart(sk: string, part: NamePart): boolean {
  const told = /#([fgx]+)#[^#]*$/.exec(sk)?.[1];
  return told === undefined || told.includes(partLetters[part]);
}

/** A bucket for an exact value: of bounded length, and no personal data in a key. */
export function bucketOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** Tells apart the values of one bucket: that two of them meet is as good as impossible. */
export function nearHash(text: string): string {
  return bucketOf(text).slice(0, 10);
}

/** Values that grow with time would all be written to one partition: spread over this many. */
export const shards = 4;

export function shardOf(id: string): number {
  return createHash('sha256').update(id).digest().readUInt32BE(0) % shards;
}
