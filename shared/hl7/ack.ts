import type { Hl7Context } from './context.ts';
import { encode } from './escape.ts';
import { parsePath } from './path.ts';
import { Hl7Segment } from './segment.ts';

/** HL7 table 0008 with the text that MSA-3 carries by default. */
const ACK_TEXTS = {
  AA: 'OK',
  AE: 'Application Error',
  AR: 'Application Reject',
  CA: 'Commit Accept',
  CE: 'Commit Error',
  CR: 'Commit Reject',
};

/** HL7 table 0357, message error condition codes. */
const ERROR_TEXTS: Record<string, string> = {
  '100': 'Segment sequence error',
  '101': 'Required field missing',
  '102': 'Data type error',
  '103': 'Table value not found',
  '200': 'Unsupported message type',
  '201': 'Unsupported event code',
  '202': 'Unsupported processing id',
  '203': 'Unsupported version id',
  '204': 'Unknown key identifier',
  '205': 'Duplicate key identifier',
  '206': 'Application record locked',
  '207': 'Application internal error',
};

export type AckCode = keyof typeof ACK_TEXTS;

export interface AckOptions {
  /** Default `AA`. */
  ackCode?: AckCode;
  /** Plain text for MSA-3 and, from v2.5 on, ERR-8; escaped here. */
  text?: string;
  /** For the ERR segment of AE, AR, CE, CR: a code of HL7 table 0357 or your own. Default 207. */
  errorCode?: string;
  /** Path of what is wrong, such as `PID.3`. */
  errorLocation?: string;
  /** A complete ERR segment, instead of the one made from the code. */
  errSegment?: Hl7Segment | string;
  /** MSH-10 of the answer, at most 20 characters before v2.7. Default: random. */
  controlId?: string;
  /** MSH-7 of the answer, written in UTC. Default: the present. */
  now?: Date;
}

export function isAckCode(value: string | undefined): value is AckCode {
  return value !== undefined && Object.hasOwn(ACK_TEXTS, value);
}

/**
 * The segments that acknowledge a message with this MSH (HL7 v2.5.1 section 2.13.1): sender and receiver
 * swapped; separators, processing id, version and character set kept; MSA; ERR when something went wrong.
 */
export function ackSegments(header: Hl7Segment, options: AckOptions): Hl7Segment[] {
  const context = header.context;
  const ackCode = options.ackCode ?? 'AA';
  const text = encode(options.text ?? ACK_TEXTS[ackCode], context);
  const version = header.getComponent(12, 1) || '2.5.1';
  const written = (field: number) => header.getField(field)?.toString() ?? '';
  const msh = new Hl7Segment(
    [
      ...['MSH', context.getMsh2(), written(5), written(6), written(3), written(4)],
      ...[timestamp(options.now ?? new Date()), '', messageType(header, version)],
      encode(options.controlId ?? crypto.randomUUID().replaceAll('-', '').slice(-20), context),
      ...[written(11) || 'P', written(12) || version],
    ],
    context,
  );
  if (written(18) !== '') {
    msh.setField(18, written(18));
  }
  const msa = new Hl7Segment(['MSA', ackCode, written(10), text], context);
  return [msh, msa, ...errorSegments(ackCode, text, version, context, options)];
}

function errorSegments(
  ackCode: AckCode,
  text: string,
  version: string,
  context: Hl7Context,
  options: AckOptions,
): Hl7Segment[] {
  if (options.errSegment !== undefined) {
    return [Hl7Segment.parse(options.errSegment.toString(), context)];
  }
  if (ackCode.endsWith('A')) {
    return [];
  }
  const code = options.errorCode ?? '207';
  const meaning = ERROR_TEXTS[code];
  const coded = meaning === undefined ? [code] : [code, meaning, 'HL70357'];
  const error = coded.map((value) => encode(value, context));
  const location = errorLocation(options.errorLocation);
  const join = context.componentSeparator;
  if (version < '2.5') {
    // ERR-1 (v2.4 section 2.16.5): segment, sequence, field and the coded error as the fourth component.
    const [segment = '', sequence = '', field = ''] = location;
    const cell =
      context.subcomponentSeparator === '' ? (error[0] ?? '') : error.join(context.subcomponentSeparator);
    return [new Hl7Segment(['ERR', [segment, sequence, field, cell].join(join)], context)];
  }
  // ERR-2 location, ERR-3 error code, ERR-4 severity, ERR-8 user message (v2.5.1 section 2.14.5).
  return [new Hl7Segment(['ERR', '', location.join(join), error.join(join), 'E', '', '', '', text], context)];
}

/** The components of data type ERL: segment, its sequence, field, repetition, component, subcomponent. */
function errorLocation(path: string | undefined): string[] {
  if (path === undefined) {
    return [];
  }
  const at = parsePath(path);
  const numbers = [at.occurrence ?? 1, at.field, at.repetition, at.component, at.subcomponent];
  while (numbers.at(-1) === undefined) {
    numbers.pop();
  }
  return [at.segment, ...numbers.map((number) => (number === undefined ? '' : String(number)))];
}

/** MSH-9: the event is the sender's; the structure is named since v2.3.1. */
function messageType(header: Hl7Segment, version: string): string {
  const event = header.getComponent(9, 2);
  const parts = event === '' ? ['ACK'] : version < '2.3.1' ? ['ACK', event] : ['ACK', event, 'ACK'];
  return parts.join(header.context.componentSeparator);
}

/** Data type TS/DTM to the second, in UTC and saying so. */
function timestamp(now: Date): string {
  return `${now.toISOString().slice(0, 19).replace(/\D/g, '')}+0000`;
}
