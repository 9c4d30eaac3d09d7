import type { Resource } from '../../shared/fhir/resource.ts';
import { newMeta, type Stamp } from '../../shared/fhir/stamp.ts';
import { withBytes } from '../../shared/store/binary-content.ts';
import { actionsOf, createChange } from '../../shared/store/change.ts';
import { packResource } from '../../shared/store/content.ts';
import type { Action } from '../../shared/table/transact.ts';

const text = `import type { BotEvent, MedplumClient } from '@medplum/core';

export async function handler(medplum: MedplumClient, event: BotEvent): Promise<unknown> {
  return event.input;
}
`;

/** What an author finds in a new Bot: a Binary, and the attachment that names it. */
export function defaultSource(botId: string, stamp: Stamp): { attachment: object; actions: Action[] } {
  const contentType = 'text/typescript';
  const binary: Resource = {
    resourceType: 'Binary',
    id: stamp.newId(),
    meta: newMeta(stamp),
    contentType,
    securityContext: { reference: `Bot/${botId}` },
  };
  const plain = { resource: binary, packed: packResource(stamp.project, binary) };
  const { packed } = withBytes(stamp.project, plain, { bytes: Buffer.from(text) });
  return {
    attachment: { contentType, url: `Binary/${binary.id}`, title: 'index.ts' },
    actions: actionsOf(createChange(stamp.project, binary, {}, packed)),
  };
}
