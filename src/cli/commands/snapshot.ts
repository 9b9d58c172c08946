import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { readOrigin } from '../../query/inbox/health.js';
import { readCoverage } from '../../query/certificates.js';
import { countKnown } from '../../query/coverage.js';
import { examples } from '../command.js';
import { type Io, say } from '../io.js';
import { writeValue } from '../output/output.js';
import { findPlace } from '../place/find-place.js';
import { demandNewFile, isThere, sidecarOf, writeSidecar } from '../output/sidecar.js';
import { reading } from '../place/place.js';
import { ofKnown } from '../../text/known.js';

export function define(program: Command, io: Io): void {
  const command = program
    .command('snapshot')
    .description(
      'Write a consistent copy of mirror.db to one file, and beside it when it was made and how far it can be trusted',
    )
    .argument('<file>', 'the copy; it must not be there yet')
    .option('--json', 'print what was written as JSON')
    .action((file: string, options: { json?: boolean }) => take(io, file, options));
  examples(command, [
    'carbon-mirror snapshot mirror-2026-01-31.db',
    'carbon-mirror snapshot /backup/mirror.db --json',
  ]);
}

/** What is said of the copy is read before it is made: it holds that much at least. */
async function take(io: Io, file: string, options: { json?: boolean }): Promise<void> {
  const place = findPlace(io);
  demandNewFile(file);
  const asOf = new Date(io.now()).toISOString();
  const { origin, known, coverage } = await reading(place, async reader => ({
    origin: await readOrigin(reader),
    known: await countKnown(reader),
    coverage: await readCoverage(reader, null, null),
  }));
  if (!(await place.engine.snapshot(file, io.now()))) throw isThere(file);
  const bytes = statSync(file).size;
  const about = sidecarOf(file);
  writeSidecar(file, {
    file,
    bytes,
    asOf,
    madeAt: new Date(io.now()).toISOString(),
    demo: place.demo,
    registry: origin?.baseUrl ?? null,
    appId: origin?.appId ?? null,
    known,
    coverage,
  });
  if (options.json) return await writeValue(io, { file, bytes, about });
  say(
    io,
    `Wrote ${file} (${(bytes / 1e6).toFixed(1)} MB) of ${ofKnown(known)}, and ${about} about it. Try "datasette ${file}" or "duckdb ${file}".`,
  );
  return undefined;
}
