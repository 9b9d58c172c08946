import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { ON_BOTH, ON_BOTH_AT_LENGTH } from '../../vitest.config.js';

const ENGINE_INDEPENDENT = 'responses of the registry are judged by the same code before any engine is used';

/** Flows that run on one engine only, and why that is enough. */
const ONE_ENGINE_REASONS: Readonly<Record<string, string>> = {
  'freshness-facts': 'the table of freshness facts is for files, whose mirror cannot see the inbox',
  answers: ENGINE_INDEPENDENT,
  dates: 'an instant is taken where an answer arrives; histories demand the same of both engines',
  declined: ENGINE_INDEPENDENT,
  disk: 'the disk of a server is its own matter',
  engines: 'is about these flows',
  findings:
    'asks commands of files; the views answer the same on both engines, in test/contract/mirror-findings.test.ts',
  'findings-counted': 'counts what those views answer, and asks commands of files',
  fuzz: 'looks into parsers, and keeps nothing',
  keeping: 'is about files; test/store/postgres/move.test.ts leads from there to PostgreSQL',
  'large-answers': ENGINE_INDEPENDENT,
  'long-runs': 'who goes first is the laws of claims, in test/contract/inbox-claim.test.ts on both engines',
  'moving-lists': ENGINE_INDEPENDENT,
  owners: ENGINE_INDEPENDENT,
  'page-sizes': ENGINE_INDEPENDENT,
  permissions: ENGINE_INDEPENDENT,
  postgres: 'is about PostgreSQL alone',
  processes: 'signals and files; test/flows/postgres.test.ts kills the processes of PostgreSQL',
  proof: 'readers answer the same on both engines, in test/contract/readers.test.ts',
  duplicates: 'paces are the laws of test/contract/inbox-duplicates.test.ts on both engines',
};

test('every flow runs on both engines, or states why one engine is enough', () => {
  const flows = readdirSync(import.meta.dirname).map(name => basename(name, '.test.ts'));
  expect(flows.toSorted()).toEqual(
    [...ON_BOTH, ...ON_BOTH_AT_LENGTH, ...Object.keys(ONE_ENGINE_REASONS)].toSorted(),
  );
});
