import { statSync } from 'node:fs';
import { ofKnown } from '../../text/known.js';
import { command } from '../command.js';
import { demandNewFile, isThere, readAbout, sidecarOf, writeSidecar } from '../output/into-file.js';
import { needed, text } from '../taken.js';

export const SNAPSHOT = command({
  says: 'Write the mirror alone to one SQLite file, to be asked elsewhere, and beside it how far it can be trusted',
  words: { file: needed(text('file', 'the copy; it must not be there yet')) },
  prints: { json: 'print what was written as JSON' },
  examples: [
    'carbon-mirror snapshot mirror-2026-01-31.db',
    'carbon-mirror snapshot /backup/mirror.db --json',
  ],
  /** What is said of the copy is read before it is made: it holds that much at least. */
  run: async ({ io, location, reader, tell }, { file }) => {
    const { demo, engine } = location();
    demandNewFile(file);
    const asOf = new Date(io.now()).toISOString();
    const trust = await readAbout(await reader());
    if (!(await engine.snapshot(file, io.now()))) throw isThere(file);
    const bytes = statSync(file).size;
    const madeAt = new Date(io.now()).toISOString();
    writeSidecar(file, { file, bytes, asOf, madeAt, demo, ...trust });
    const about = sidecarOf(file);
    await tell(
      { file, bytes, about },
      `Wrote ${file} (${(bytes / 1e6).toFixed(1)} MB) of ${ofKnown(trust.known)}, and ${about} about it. Try "datasette ${file}" or "duckdb ${file}".`,
    );
  },
});
