import type { Parameters } from '@medplum/fhirtypes';
import { OperationOutcomeError } from '../../../client/src/index.ts';
import { partsOf } from '../api/parameters.ts';
import type { Api } from '../api/use-api.ts';

/** The code of a version. */
export interface DeployedCode {
  hash: string;
  filename: string;
  text: string;
  /** Only what was made of the author's text is kept. */
  isCompiled: boolean;
}

/** @param version a hash; without it what runs @returns undefined when nothing is deployed */
export async function readDeployedCode(
  api: Api,
  botId: string,
  { version, signal }: { version?: string; signal?: AbortSignal },
): Promise<DeployedCode | undefined> {
  try {
    const query = version === undefined ? '' : `?version=${version}`;
    const { parameter = [] } = await api.get<Parameters>(`fhir/R4/Bot/${botId}/$code${query}`, signal);
    const { hash, filename, code, compiled } = partsOf({ name: '', part: parameter });
    return {
      hash: String(hash),
      filename: String(filename),
      text: String(code),
      isCompiled: compiled === true,
    };
  } catch (error) {
    if (error instanceof OperationOutcomeError && error.status === 404) return undefined;
    throw error;
  }
}
