import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { FailedFiles } from './test/support/failed-files.js';

/** What starts processes or threads, needs the build or takes long. All other tests are laws, and share few processes. */
export const PROGRAM = [
  'test/{at-once,build,ci,deploy,mutants,public-names,readme,readme-queries,tasks}.test.ts',
  'test/app/*.test.ts',
  'test/contract/evidence-{export,others}.test.ts',
  'test/contract/evidence-forgery.test.ts',
  'test/{cli,store}/**/*.test.ts',
  'test/flows/!(certificates|lifecycle).test.ts',
  'test/registry/{examples,package}.test.ts',
  'test/sandbox/{conservation,webhooks}.test.ts',
  'test/resources/adds-a-resource.test.ts',
  'test/webhook/{pipelining,kill,power}.test.ts',
];

/** What needs a PostgreSQL. One is started for all of them, and only for them. */
export const POSTGRES = [
  'test/contract/{commands,inbox-same,mirror-same,readers}.test.ts',
  'test/postgres/**/*.test.ts',
  'test/store/postgres/**/*.test.ts',
  'test/flows/postgres.test.ts',
];

/** What needs a browser. It is unpacked once for all of them, and only for them. */
export const BROWSER = ['test/browser/**/*.test.ts'];

/** In `npm run torture -- long`. */
const IS_LONG = process.env['LONG'] !== undefined;

/** Flows that meet the engine: on files, and once more on a PostgreSQL. The others and why: test/flows/engines.test.ts. */
export const ON_BOTH = ['certificates', 'history', 'lifecycle'];

/** These meet it no less; what they ask of it are laws of test/contract, so that the long way is enough. */
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
    /** What one project has compiled is there for the others. */
    experimental: { fsModuleCache: true },
    reporters: ['default', new FailedFiles()],
    /** Much of a test is waiting: one core fewer, as is usual, would leave a machine of two half idle, and one more leaves it busy. */
    maxWorkers: availableParallelism() + 1,
    /** They only end what hangs: a busy machine is given all the time that it needs. */
    testTimeout: 400_000,
    hookTimeout: 400_000,
    expect: { poll: { timeout: 170_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'laws',
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
          exclude: ['test/fixtures/**', ...POSTGRES],
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
            'test/contract/**/*.test.ts',
            ...PLAYED_TWICE.map(name => `test/flows/${name}.test.ts`),
          ],
          /** It reads nothing but a folder. */
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
