import { Button } from 'react-aria-components';
import type { PlacedProblem } from '../editor/mount-editor.ts';
import { Badge } from '../ui/badge.tsx';
import type { GoTo } from './places.tsx';

const mostListed = 50;

/** What the compiler says of the code as it stands, each leading to its line. */
export function Problems({ problems, goTo }: { problems: readonly PlacedProblem[]; goTo: GoTo }) {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return (
    <section className="problems" aria-label="Problems">
      <p className="muted" role="status">
        {problems.length === 0 ? 'No problems found.' : countWords(errors, problems.length - errors)}
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.slice(0, mostListed).map(({ line, column, severity, message }) => (
            <li key={`${line}:${column} ${message}`}>
              <Badge kind={severity === 'error' ? 'bad' : 'waiting'}>{severity}</Badge>{' '}
              <Button className="place" onPress={() => goTo(line, column)}>
                line {line}
              </Button>{' '}
              {message}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function countWords(errors: number, warnings: number): string {
  const words = [
    errors > 0 ? `${errors} ${errors === 1 ? 'error keeps' : 'errors keep'} it from being deployed` : '',
    warnings > 0 ? `${warnings} ${warnings === 1 ? 'type does' : 'types do'} not fit` : '',
  ];
  return `${words.filter(Boolean).join(', ')}.`;
}
