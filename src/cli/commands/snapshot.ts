import { existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { readCoverage } from '../../query/certificates.js';
import { countInstalled } from '../../query/coverage.js';
import { readOrigin } from '../../query/names.js';
import { formatCount } from '../../text/numbers.js';
import { defineCommand } from '../define-command.js';
import { createFileExistsError, createUsageError } from '../command-error.js';
import { toJson, toSnakeKeys } from '../output/output-formats.js';
import { makeRequired, defineText } from '../options.js';

export const SNAPSHOT = defineCommand({
  summary: 'Copy the mirror to one SQLite file',
  details:
    'Any SQLite client can query the copy. FILE.json next to it records how complete and fresh the data is.',
  args: { file: makeRequired(defineText('file', 'the new file; must not exist yet')) },
  formats: { json: 'print what was written as JSON' },
  examples: ['carbon-mirror snapshot mirror-2026-01-31.db'],
  /** The description is read before the copy is made, so that the copy contains at least what it describes. */
  run: async ({ io, requireMirror, openReader, printResult }, { file }) => {
    const { isDemo, engine } = requireMirror();
    const descriptionFile = `${file}.json`;
    assertNewFiles(file, descriptionFile);
    const asOf = new Date(io.now()).toISOString();
    const reader = await openReader();
    const { base_url: registry = null, app_id: appId = null } = (await readOrigin(reader)) ?? {};
    const known = await countInstalled(reader);
    const coverage = await readCoverage(reader, null, null);
    if (!(await engine.snapshot(file, io.now()))) throw createFileExistsError(file);
    const bytes = statSync(file).size;
    const madeAt = new Date(io.now()).toISOString();
    const description = { file, bytes, asOf, madeAt, demo: isDemo, registry, appId, known, coverage };
    writeFileSync(descriptionFile, `${toJson(toSnakeKeys(description), 2)}\n`, { flag: 'wx', mode: 0o600 });
    await printResult(
      { file, bytes, about: descriptionFile },
      `Wrote ${file} (${(bytes / 1e6).toFixed(1)} MB, ${formatCount(known, 'organization')}) and its description ${descriptionFile}. Try "datasette ${file}" or "duckdb ${file}".`,
    );
  },
});

/** Throws if an output file already exists or the folder for the files is missing. */
function assertNewFiles(file: string, descriptionFile: string): void {
  if (file === '') throw createUsageError('Expected the name of a new file, got an empty name.');
  const folder = dirname(file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw createUsageError(
      `${file}: the folder ${folder} does not exist.`,
      'Create it first, or choose another place.',
    );
  const existing = [file, descriptionFile].find(name => existsSync(name));
  if (existing !== undefined) throw createFileExistsError(existing);
}
