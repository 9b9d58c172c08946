// What people and their programs call by name, taken from a built copy of this package.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const AT_ONCE = 4;

/** Tables and views with their columns, commands with their options, settings, metrics, and exports by their entry. */
export async function readPublicNames(root) {
  const from = path => import(pathToFileURL(join(root, 'dist', path)).href);
  const { createMetrics } = await from('operations/metrics.js');
  const metrics = await createMetrics([]).text();
  const entries = Object.entries(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports);
  const modules = await Promise.all(
    entries
      .filter(([, entry]) => typeof entry === 'object')
      .map(async ([name, entry]) => [name, await import(pathToFileURL(join(root, entry.default)).href)]),
  );
  return {
    tables: await readTables(from),
    commands: await readCommands(join(root, 'dist/main.js')),
    settings: namesIn(readFileSync(join(root, '.env.example'), 'utf8'), /^#?([A-Z][A-Z_]+)=/gm),
    metrics: namesIn(metrics, /^# TYPE (\S+)/gm),
    exports: Object.fromEntries(modules.map(([name, module]) => [name, Object.keys(module).toSorted()])),
  };
}

async function readTables(from) {
  const { migrateFile } = await from('engines/sqlite/migrate.js');
  const { openDatabase } = await from('engines/sqlite/open.js');
  const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-'));
  const tables = {};
  try {
    for (const family of ['mirror', 'inbox']) {
      const file = join(folder, `${family}.db`);
      migrateFile(file, family, new Date(0).toISOString());
      const db = openDatabase(file, { busyTimeoutMs: 1000, readonly: true });
      const names = db
        .prepare(
          "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'",
        )
        .pluck();
      const columns = db.prepare('SELECT name FROM pragma_table_xinfo(?)').pluck();
      for (const name of names.all()) tables[`${family}.${name}`] = columns.all(name).toSorted();
      db.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return tables;
}

/** By their own help, a few at once. */
async function readCommands(main) {
  const commands = {};
  let waiting = [[]];
  while (waiting.length > 0) {
    const helps = await Promise.all(waiting.slice(0, AT_ONCE).map(path => helpOf(main, path)));
    const found = helps.flatMap(({ path, help }) => {
      commands[path.join(' ')] = namesIn(help, /^ {2}(?:-\w, )?(--[a-z-]+)/gm);
      const [, list = ''] = help.split(/^Commands:$/m);
      return namesIn(list, /^ {2}([a-z][a-z-]*)/gm).map(name => [...path, name]);
    });
    waiting = [...waiting.slice(AT_ONCE), ...found.filter(path => path.at(-1) !== 'help')];
  }
  return commands;
}

async function helpOf(main, path) {
  const { stdout } = await run(process.execPath, [main, ...path, '--help'], { env: {} });
  return { path, help: stdout };
}

function namesIn(text, pattern) {
  return [...new Set(Array.from(text.matchAll(pattern), ([, name]) => name))].toSorted((a, b) =>
    a < b ? -1 : 1,
  );
}
