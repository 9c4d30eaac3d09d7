import { createRequire } from 'node:module';

/** What jest gives a sequencer, as far as it is used here. */
interface TestFile {
  path: string;
  duration?: number;
}
interface Sequencer {
  sort(files: TestFile[]): TestFile[];
}

const require = createRequire(import.meta.url);
const { default: JestSequencer }: { default: new (...given: unknown[]) => Sequencer } = createRequire(
  require.resolve('jest'),
)('@jest/test-sequencer');

/** What takes longest, or whose files do; of several that begin a path, the first. Others follow. */
const long = [
  // Makes templates that others of its folder wait for.
  ...['worst/', 'infra/running', 'faults/every-call/', 'web/every-page', 'faults/', 'web/members'],
  ...['web/project', 'spec/every-route', 'local/bot', 'spec/subscription-bots', 'mllp/crashes'],
  ...['linearizability/', 'spec/execute-hostile', 'spec/own-rights', 'resources/examples', 'sandbox/soak'],
  ...['spec/bots.', 'sandbox/compile', 'spec/second-factor', 'spec/users.', 'web/', 'infra/', 'mllp/'],
  ...['spec/execute.', 'spec/jobs.', 'spec/hostile-bots', 'spec/import', 'resources/crash', 'local/process'],
  ...['storage/deliveries', 'storage/recover', 'hl7/speed', 'spec/'],
];

/**
 * Begins with the files that take longest, so that none of them runs alone at the end. Jest does so by how long they
 * took before; on a machine that has run none it goes by their size, which says little.
 */
export default class LongestFirst extends JestSequencer {
  override sort(files: TestFile[]): TestFile[] {
    const sorted = super.sort(files);
    const known = files.filter(({ duration }) => duration !== undefined);
    if (known.length > files.length / 2) return sorted;
    const rank = ({ path }: TestFile) => {
      const at = long.findIndex((beginning) => path.includes(`/test/${beginning}`));
      return at < 0 ? long.length : at;
    };
    return [...sorted].sort((a, b) => rank(a) - rank(b));
  }
}
