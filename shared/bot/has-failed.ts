import { Hl7Error } from '../hl7/hl7-error.ts';
import { Hl7Message } from '../hl7/message.ts';
import type { RunInput, RunOutcome } from './contract.ts';

/**
 * Whether a run came to nothing, so that its caller may have it run again: the Bot failed, or gave an
 * HL7 v2 message a negative acknowledgement (table 0008: AE, AR, CE, CR), on which senders repeat it.
 */
export function hasFailed(outcome: RunOutcome, inputKind: RunInput['kind']): boolean {
  if (outcome.kind !== 'returned') return true;
  const { value } = outcome;
  return inputKind === 'hl7' && (value.type === 'hl7' || value.type === 'string') && isRejection(value.text);
}

function isRejection(text: string): boolean {
  try {
    return /^[AC][ER]$/.test(Hl7Message.parse(text).getAckType() ?? '');
  } catch (error) {
    if (error instanceof Hl7Error) return false;
    throw error;
  }
}
