import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Demo } from '../demo-projects.ts';
import type { FunctionsHere, Invocable } from './functions-here.ts';
import { httpEvent } from './http-event.ts';
import { type SampleGround, tokenEvent } from './sample-events.ts';

const identifier = { system: 'https://example.org/bots', value: 'sample' };
const code = 'export async function handler(medplum, event) { return { got: event.input }; }';
const json = { 'content-type': 'application/json' };

/** Makes what samples need by the functions themselves, in the first Project of the demo. */
export async function sampleGround(
  { projects: [project] }: Demo,
  { invoke }: FunctionsHere,
): Promise<SampleGround> {
  if (!project) throw new Error('The demo has no Project');
  const { access_token: token } = await ask('token', tokenEvent(project));
  const authorization = `Bearer ${token}`;

  async function ask(name: Invocable, event: unknown) {
    const answer = (await invoke(name, event)) as APIGatewayProxyStructuredResultV2;
    if ((answer.statusCode ?? 200) >= 300) throw new Error(`${name}: ${answer.statusCode} ${answer.body}`);
    return JSON.parse(answer.body ?? '');
  }
  const asked = (name: Invocable, line: string, body?: object) =>
    ask(name, httpEvent(line, { authorization, ...json }, body && JSON.stringify(body)));

  return {
    project,
    token,
    async bot() {
      const named = `${identifier.system}|${identifier.value}`;
      const found = await asked('resources', `GET /fhir/R4/Bot?identifier=${encodeURIComponent(named)}`);
      const known = found.entry?.[0]?.resource.id;
      if (known) return { id: known, identifier: named };
      const fields = { name: 'Sample', identifier: [identifier] };
      const { id } = await asked('bots', `POST /admin/projects/${project.id}/bot`, fields);
      await asked('bots', `POST /fhir/R4/Bot/${id}/$deploy`, { code, filename: 'sample.mjs' });
      return { id, identifier: named };
    },
  };
}
