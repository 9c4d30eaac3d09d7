import type { Bot } from '@medplum/fhirtypes';
import { useState } from 'react';
import type { InputType } from '../../../shared/bot/input/input-types.ts';
import { baseUrl } from '../session/session.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Output } from '../ui/output.tsx';
import { Select } from '../ui/select.tsx';

type Naming = 'id' | 'identifier';

/** A line for a shell and one for a program that execute the Bot. */
export function ReadyCalls({ bot, type }: { bot: Bot; type: InputType }) {
  const identifier = bot.identifier?.[0];
  const [naming, setNaming] = useState<Naming>('id');
  const names = [
    { value: 'id', label: 'By its id' },
    ...(identifier ? ([{ value: 'identifier', label: 'By its identifier' }] as const) : []),
  ] as const;
  const token = identifier?.system ? `${identifier.system}|${identifier.value}` : (identifier?.value ?? '');
  const path =
    naming === 'id' ? `Bot/${bot.id}/$execute` : `Bot/$execute?identifier=${encodeURIComponent(token)}`;
  const curl = [
    `curl -s '${baseUrl}/fhir/R4/${path}' \\`,
    '  -H "Authorization: Bearer $TOKEN" \\',
    `  -H 'Content-Type: ${type}' \\`,
    '  --data-binary @input',
  ].join('\n');
  const named =
    naming === 'id'
      ? `'${bot.id}'`
      : JSON.stringify({
          ...(identifier?.system ? { system: identifier.system } : {}),
          value: identifier?.value,
        });
  const line = `await medplum.executeBot(${named}, input, '${type}');`;
  return (
    <details className="calls">
      <summary>Call it from elsewhere</summary>
      <div className="stack">
        {identifier && <Select label="Named" value={naming} options={names} onChange={setNaming} />}
        <Output label="With curl" text={curl} />
        <CopyButton text={curl} label="Copy the curl line" />
        <Output label="With a client library" text={line} />
        <CopyButton text={line} label="Copy the executeBot line" />
      </div>
    </details>
  );
}
