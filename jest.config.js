export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test', '<rootDir>/shared', '<rootDir>/functions', '<rootDir>/infra'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/setup/strip-types.cjs' },
  testTimeout: 30_000,
  maxWorkers: 2,
};
