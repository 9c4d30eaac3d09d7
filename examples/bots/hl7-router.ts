/**
 * One address for every HL7 message: hands each to the Bot that knows its type and gives back that Bot's
 * acknowledgement. The other Bots are named by identifier, so they can be replaced without touching this one.
 */

import { type BotEvent, type MedplumClient, normalizeErrorString } from '@medplum/core';
import type { Hl7Message } from '../../shared/bots/hl7/message.ts';

const BOTS = 'https://clinic.example.org/bots';
/** MSH-9.1 → value of the Bot's identifier. */
const RECEIVERS: Record<string, string> = { ADT: 'adt-to-patient', ORU: 'oru-to-observations' };

export async function handler(
  medplum: MedplumClient,
  { input: message }: BotEvent<Hl7Message>,
): Promise<Hl7Message | string> {
  const type = message.get('MSH.9.1') ?? '';
  const value = RECEIVERS[type];
  if (value === undefined) {
    const text = `${type} is not accepted here`;
    return message.buildAck({ ackCode: 'AR', errorCode: '200', errorLocation: 'MSH.9', text });
  }
  try {
    return await medplum.executeBot({ system: BOTS, value }, message.toString(), 'x-application/hl7-v2+er7');
  } catch (error) {
    console.error(value, error);
    return message.buildAck({ ackCode: 'AE', text: normalizeErrorString(error) });
  }
}
