import { Refusal } from '../../shared/refusal.ts';
import { allRoutes } from '../routes.ts';

/** What a path without a route is answered: 405 when it exists under another method, else 404. */
export function refuseUnknown(method: string, path: string): Refusal {
  if (path.endsWith('/$export')) return noExport();
  const allow = methodsOf(path).filter((one) => one !== method);
  if (allow.length === 0) return new Refusal('not-found', 'Not found');
  return new Refusal('method-not-allowed', `${method} is not allowed here`, { allow });
}

export function refuseUnknownType(type: string): Refusal {
  return new Refusal('not-found', `${type} is not a resource type`);
}

/** FHIR Bulk Data knows exports of less than all: who asks is told what there is instead. */
function noExport(): Refusal {
  return new Refusal(
    'not-found',
    'There is no export of Patients or of a Group: GET fhir/R4/$export is that of the Project, Patient/<id>/$everything that of one Patient',
  );
}

/** Methods of the routes that match best: a literal part wins over a parameter, as at the gateway. */
function methodsOf(path: string): string[] {
  const segments = path.split('/');
  const matching = allRoutes.filter(({ path: pattern }) => matches(pattern.split('/'), segments));
  const literal = Math.max(0, ...matching.map((route) => literals(route.path)));
  return [
    ...new Set(matching.filter((route) => literals(route.path) === literal).map(({ method }) => method)),
  ];
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, i) => (part.startsWith('{') ? segments[i] !== '' : part === segments[i]))
  );
}

function literals(path: string): number {
  return path.split('/').filter((part) => !part.startsWith('{')).length;
}
