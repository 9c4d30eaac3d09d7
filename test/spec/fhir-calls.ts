import { expect } from '@jest/globals';
import type { Answer, Call, Portico } from './portico.ts';
import { createClient } from './running.ts';

type Fields = Record<string, unknown>;

/** Calls of the FHIR API, and what most specs of rights set up with them. */
export interface FhirCalls {
  /** @param path from fhir/R4/ on */
  fhir(method: string, path: string, call?: Call): Promise<Answer>;
  /** Creates it as the Project's own client. @returns its id */
  created(body: Fields & { resourceType: string }): Promise<string>;
  /** The next version of what stands there. */
  changed(type: string, id: string, fields: Fields): Promise<void>;
  /** A token of a client under a policy of these rules. */
  tokenUnder(rules: Fields[], parameter?: Fields[]): Promise<string>;
  status(token: string, path: string): Promise<number>;
}

export function fhirCalls(getPortico: () => Portico): FhirCalls {
  const fhir: FhirCalls['fhir'] = (method, path, call = {}) =>
    getPortico().api(method, `fhir/R4${path && `/${path}`}`, {
      ...call,
      headers: {
        ...(call.body === undefined ? {} : { 'content-type': 'application/fhir+json' }),
        ...call.headers,
      },
    });
  const created: FhirCalls['created'] = async (body) => {
    const answer = await fhir('POST', body.resourceType, { body });
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return answer.json.id;
  };
  return {
    fhir,
    created,
    async changed(type, id, fields) {
      const { json } = await fhir('GET', `${type}/${id}`, { headers: { accept: 'application/fhir+json' } });
      const answer = await fhir('PUT', `${type}/${id}`, { body: { ...json, ...fields } });
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    },
    async tokenUnder(rules, parameter) {
      const id = await created({ resourceType: 'AccessPolicy', name: 'P', resource: rules });
      const policy = { reference: `AccessPolicy/${id}` };
      const rights = parameter ? { access: [{ policy, parameter }] } : { accessPolicy: policy };
      return (await createClient(getPortico(), rights)).token;
    },
    status: async (token, path) => (await fhir('GET', path, { token })).status,
  };
}
