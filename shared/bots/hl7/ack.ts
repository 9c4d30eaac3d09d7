import { Hl7Segment } from './segment.ts';
import { encode, type Hl7Context, parsePath } from './text.ts';

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
  const { context } = header;
  const { ackCode = 'AA', errSegment, controlId, now = new Date() } = options;
  const text = encode(options.text ?? ACK_TEXTS[ackCode], context);
  const version = header.getComponent(12, 1) || '2.5.1';
  const written = (field: number) => header.getField(field)?.toString() ?? '';
  const segment = (...fields: string[]) => new Hl7Segment(fields, context);
  const msh = segment(
    ...['MSH', context.getMsh2(), written(5), written(6), written(3), written(4)],
    ...[timestamp(now), '', messageType(header, version)],
    encode(controlId ?? crypto.randomUUID().replaceAll('-', '').slice(-20), context),
    ...[written(11) || 'P', written(12) || version],
  );
  if (written(18) !== '') msh.setField(18, written(18));
  const ack = [msh, segment('MSA', ackCode, written(10), text)];
  if (errSegment !== undefined) return [...ack, Hl7Segment.parse(errSegment.toString(), context)];
  return ackCode.endsWith('A') ? ack : [...ack, segment(...errorFields(options, text, version, context))];
}

function errorFields(
  { errorCode = '207', errorLocation }: AckOptions,
  text: string,
  version: string,
  context: Hl7Context,
): string[] {
  const { componentSeparator, subcomponentSeparator } = context;
  const meaning = ERROR_TEXTS[errorCode];
  const coded = meaning === undefined ? [errorCode] : [errorCode, meaning, 'HL70357'];
  const error = coded.map((value) => encode(value, context));
  const location = errorLocation === undefined ? [] : locationOf(errorLocation);
  if (version < '2.5') {
    // ERR-1 (v2.4 section 2.16.5): segment, sequence, field and the coded error as the fourth component.
    const [segment = '', sequence = '', field = ''] = location;
    const cell = subcomponentSeparator === '' ? (error[0] ?? '') : error.join(subcomponentSeparator);
    return ['ERR', [segment, sequence, field, cell].join(componentSeparator)];
  }
  // ERR-2 location, ERR-3 error code, ERR-4 severity, ERR-8 user message (v2.5.1 section 2.14.5).
  const [where, what] = [location, error].map((parts) => parts.join(componentSeparator));
  return ['ERR', '', `${where}`, `${what}`, 'E', '', '', '', text];
}

/** The components of data type ERL: segment, its sequence, field, repetition, component, subcomponent. */
function locationOf(path: string): string[] {
  const at = parsePath(path);
  const numbers = [at.occurrence ?? 1, at.field, at.repetition, at.component, at.subcomponent];
  while (numbers.at(-1) === undefined) numbers.pop();
  return [at.segment, ...numbers.map((number) => `${number ?? ''}`)];
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
