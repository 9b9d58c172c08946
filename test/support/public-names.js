// What people and their programs call by name, taken from a built copy of this package.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

/** Tables and views with their columns, commands with their options, settings, metrics, and exports by their entry. */
export async function readPublicNames(root) {
  const from = path => import(pathToFileURL(join(root, 'dist/src', path)).href);
  const { createMetrics } = await from('app/operations/metrics.js');
  const metrics = await createMetrics([]).text();
  const entries = Object.entries(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports);
  const modules = await Promise.all(
    entries
      .filter(([, entry]) => typeof entry === 'object')
      .map(async ([name, entry]) => [name, await import(pathToFileURL(join(root, entry.default)).href)]),
  );
  return {
    tables: await readTables(from),
    commands: await readCommands(await from('cli/program.js')),
    settings: namesIn(readFileSync(join(root, '.env.example'), 'utf8'), /^#?([A-Z][A-Z_]+)=/gm),
    metrics: namesIn(metrics, /^# TYPE (\S+)/gm),
    exports: Object.fromEntries(modules.map(([name, module]) => [name, Object.keys(module).toSorted()])),
  };
}

async function readTables(from) {
  const { migrateFile } = await from('store/sqlite/migrate.js');
  const { openDatabase } = await from('store/sqlite/open.js');
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

/** By their own help, each in this process: the program is a value, and a process a command takes longer than all else. */
async function readCommands({ runProgram }) {
  const commands = {};
  for (const waiting = [[]]; waiting.length > 0; ) {
    const path = waiting.shift();
    const help = await helpOf(runProgram, path);
    commands[path.join(' ')] = namesIn(help, /^ {2}(?:-\w, )?(--[a-z-]+)/gm);
    const [, list = ''] = help.split(/^Options:$/m);
    const found = namesIn(list, /^ {2}([a-z][a-z-]*)/gm).map(name => [...path, name]);
    waiting.push(...found.filter(each => each.at(-1) !== 'help'));
  }
  return commands;
}

async function helpOf(runProgram, path) {
  const stdout = new PassThrough();
  const printed = readText(stdout);
  const terminal = { stdin: false, stdout: false, stderr: false };
  const io = { stdin: process.stdin, stdout, stderr: process.stderr, env: {}, terminal, now: Date.now };
  const exitCode = await runProgram([...path, '--help'], '0.0.0', io);
  stdout.end();
  if (exitCode !== 0) throw new Error(`the help of "${path.join(' ')}" ended with ${exitCode}`);
  return await printed;
}

function namesIn(text, pattern) {
  return [...new Set(Array.from(text.matchAll(pattern), ([, name]) => name))].toSorted((a, b) =>
    a < b ? -1 : 1,
  );
}
