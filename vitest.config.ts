import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { FailedFiles } from './test/support/failed-files.js';

/** Tests that start the program, processes or threads, or need the build. All tests in no list of this file are unit tests. */
export const PROGRAM = [
  'test/{build,deploy,prove,readme,readme-queries,release,run-tests,tasks}.test.ts',
  'test/app/*.test.ts',
  'test/contract/evidence-{export,others}.test.ts',
  'test/contract/evidence-{forgery,format,named-forgeries,tampering,timestamp}.test.ts',
  'test/duckdb/*.test.ts',
  'test/{cli,store}/**/*.test.ts',
  'test/flows/!(certificates|lifecycle).test.ts',
  'test/registry/{client-package,examples,package}.test.ts',
  'test/sandbox/{conservation,webhooks}.test.ts',
  'test/webhook/{pipelining,kill,power}.test.ts',
];

/** Program tests that take long. `npm run test:all` runs them; `npm test` runs a shorter test of each promise that they prove. */
export const SLOW = [
  'test/{build,deploy,readme,run-tests}.test.ts',
  'test/app/{receive,secrets,up,work}.test.ts',
  'test/cli/{approved-words,deep-documents,mismatched-files,restore,sync,verify,write-commands}.test.ts',
  'test/contract/evidence-{export,others}.test.ts',
  'test/duckdb/*.test.ts',
  'test/sandbox/webhooks.test.ts',
  'test/flows/{answers,declined,findings,forged,fuzz,keeping,long-runs,mutants,owners,processes,quiet}.test.ts',
];

/** Tests that need PostgreSQL. One server is started for all of them. */
export const POSTGRES = [
  'test/contract/{commands,inbox-same,mirror-same,readers}.test.ts',
  'test/postgres/**/*.test.ts',
  'test/store/postgres/**/*.test.ts',
  'test/flows/postgres.test.ts',
];

/** Tests that need a browser. It is unpacked once for all of them. */
export const BROWSER = ['test/browser/**/*.test.ts'];

/** Set by `npm run torture -- long`. */
const IS_LONG = process.env['LONG'] !== undefined;

/** Flows that run on SQLite and on PostgreSQL. test/flows/engines.test.ts says why the others do not. */
export const ON_BOTH = ['certificates', 'history', 'lifecycle', 'orders', 'console-orders'];

/** Flows whose statements test/contract already checks on PostgreSQL: they run there only in the long form. */
export const ON_BOTH_AT_LENGTH = [
  'freshness',
  'causes',
  'clock',
  'coverage',
  'deliveries',
  'forged',
  'hostile-rows',
  'install',
  'mutants',
  'quiet',
];

const PLAYED_TWICE = [...ON_BOTH, ...(IS_LONG ? ON_BOTH_AT_LENGTH : [])];

export default defineConfig({
  test: {
    pool: 'forks',
    /** Projects share compiled modules. */
    experimental: { fsModuleCache: true },
    reporters: ['default', new FailedFiles()],
    /** Tests wait much: one worker more than there are cores keeps a machine of two busy. */
    maxWorkers: availableParallelism() + 1,
    /** Timeouts only end tests that hang, so they are generous: a busy machine must not fail a test. */
    testTimeout: 400_000,
    hookTimeout: 400_000,
    expect: { poll: { timeout: 170_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/fixtures/**', ...PROGRAM, ...POSTGRES, ...BROWSER],
          isolate: false,
          setupFiles: ['test/support/leaves-nothing.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'program',
          include: PROGRAM,
          exclude: ['test/fixtures/**', ...POSTGRES, ...SLOW],
          isolate: false,
          globalSetup: ['test/support/worlds.ts'],
          setupFiles: ['test/support/leaves-nothing.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: SLOW,
          isolate: false,
          globalSetup: ['test/support/worlds.ts'],
          setupFiles: ['test/support/leaves-nothing.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: BROWSER,
          globalSetup: ['test/browser/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: [
            ...POSTGRES,
            'test/{contract,query}/**/*.test.ts',
            ...PLAYED_TWICE.map(name => `test/flows/${name}.test.ts`),
          ],
          /** This test reads a folder and no database. */
          exclude: ['test/contract/evidence-others.test.ts'],
          isolate: false,
          globalSetup: ['test/postgres/global-setup.ts'],
          setupFiles: ['test/support/leaves-nothing.ts'],
          provide: { keptIn: 'PostgreSQL' },
        },
      },
    ],
  },
});
