/** Gives back what it was sent, whatever the content type. Where every Bot begins. */

import type { BotEvent, MedplumClient } from '@medplum/core';

export async function handler(_medplum: MedplumClient, event: BotEvent): Promise<unknown> {
  console.log(`input of type ${event.contentType}, asked for by ${event.requester?.reference}`);
  return event.input;
}
