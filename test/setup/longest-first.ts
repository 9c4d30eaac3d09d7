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

/** Folders whose files take longest, and of these the first. */
const long = ['worst', 'web', 'infra', 'mllp', 'faults', 'linearizability'];

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
      const at = long.findIndex((folder) => path.includes(`/test/${folder}/`));
      return at < 0 ? long.length : at;
    };
    return [...sorted].sort((a, b) => rank(a) - rank(b));
  }
}
