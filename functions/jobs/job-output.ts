import type { RunResult } from '../../shared/bot/contract.ts';
import { type Output, printLog } from '../../shared/bot/output.ts';
import { fieldsOf } from '../../shared/fields-of.ts';
import { allOk, botFailure, type OperationOutcome, refusalOutcome } from '../../shared/http/outcome.ts';
import type { Refusal } from '../../shared/refusal.ts';

/** How a job ends: what its AsyncJob then holds as `output`, JSON of an R4 Parameters. */
export interface JobOutput {
  status: 'completed' | 'error' | 'cancelled';
  output: string;
}

interface Told {
  result: RunResult;
  /** Administrators are told the log of a failure. */
  showLog: boolean;
  traceId: string;
}

/** Below what an answer holds, because this is a part of one. */
const mostBytes = 4_400_000;

/** `responseBody` with what `$execute` would have answered, or `outcome`. */
export function outputParameters(output: Output, told: Told): JobOutput {
  const ended = parametersOf(output, told);
  if (Buffer.byteLength(ended.output) <= mostBytes) return ended;
  return failed(botFailure('too-long', 'The result is too long to be kept', `Trace ${told.traceId}`));
}

export function refusalParameters(refusal: Refusal): JobOutput {
  return failed(refusalOutcome(refusal));
}

function parametersOf(output: Output, { result, showLog, traceId }: Told): JobOutput {
  switch (output.kind) {
    case 'ok':
      return ended('completed', { name: 'outcome', resource: allOk() });
    case 'text':
      return ended('completed', { name: 'responseBody', ...bodyOf(output.text, output.mediaType) });
    case 'binary': {
      const data = output.bytes.toString('base64');
      const resource = { resourceType: 'Binary', contentType: output.mediaType, data };
      return ended('completed', { name: 'responseBody', resource });
    }
    case 'outcome':
      return ended('error', { name: 'outcome', resource: JSON.parse(output.text) });
    case 'failure': {
      const diagnostics = showLog ? printLog(result.log, result.logTruncated) : '';
      const outcome = botFailure(output.code, output.text, diagnostics || `Trace ${traceId}`);
      return ended(result.outcome.kind === 'cancelled' ? 'cancelled' : 'error', {
        name: 'outcome',
        resource: outcome,
      });
    }
  }
}

/** JSON has no place of its own in Parameters: what is neither a resource nor a simple value stays text. */
function bodyOf(text: string, mediaType: string): object {
  if (!/json$/.test(mediaType)) return { valueString: text };
  const value: unknown = JSON.parse(text);
  switch (typeof value) {
    case 'string':
      return { valueString: value };
    case 'boolean':
      return { valueBoolean: value };
    case 'number':
      return { valueDecimal: value };
    default:
      return isResource(value) ? { resource: value } : { valueString: text };
  }
}

function isResource(value: unknown): boolean {
  return typeof fieldsOf(value).resourceType === 'string';
}

function failed(resource: OperationOutcome): JobOutput {
  return ended('error', { name: 'outcome', resource });
}

function ended(status: JobOutput['status'], parameter: object): JobOutput {
  return { status, output: JSON.stringify({ resourceType: 'Parameters', parameter: [parameter] }) };
}
