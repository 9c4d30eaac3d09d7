import type { Bot } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { Loading } from '../ui/loading.tsx';
import { CodeForm } from './code-form.tsx';
import { readSource } from './source.ts';

/** The Bot's source as it was saved last, to be changed and deployed. */
export function CodeTab({ bot }: { bot: Bot }) {
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => readSource(api, bot.id ?? '', signal), [api, bot.id]);
  return <Loading of={useLoad(load)}>{(source) => <CodeForm bot={bot} source={source} />}</Loading>;
}
