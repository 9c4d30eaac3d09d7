import { spawnSync } from 'node:child_process';

const isSecondOpinion = process.env.STORAGE_ENGINE === 'dynamodb-local';
const hasJava = !isSecondOpinion || !spawnSync('java', ['-version']).error;
if (!hasJava) {
  process.env.STORAGE_ENGINE = 'dynoxide';
  process.stderr.write('Skipped: there is no Java here, which DynamoDB Local needs\n');
}

export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test', '<rootDir>/shared', '<rootDir>/functions', '<rootDir>/infra'],
  testMatch: ['**/*.test.ts'],
  ...(hasJava ? {} : { testPathIgnorePatterns: ['/test/(storage|resources)/'], passWithNoTests: true }),
  globalSetup: '<rootDir>/test/setup/global-setup.ts',
  globalTeardown: '<rootDir>/test/setup/global-teardown.ts',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/setup/strip-types.cjs' },
  testRunner: '<rootDir>/test/setup/quiet-runner.ts',
  testSequencer: '<rootDir>/test/setup/longest-first.ts',
  // For what hangs: a busy machine takes its time. A test that takes longer on an idle one says so.
  testTimeout: isSecondOpinion ? 300_000 : 240_000,
  // Two cores are idle for a sixth of the time with three, and never with four.
  maxWorkers: 4,
  // Modules of finished files stay in a worker: a small machine runs out of memory without this.
  workerIdleMemoryLimit: '1GB',
};
