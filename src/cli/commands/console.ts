import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { readSettings } from '../../config/config.js';
import { createKeys } from '../../console/guard/keys.js';
import { createMask } from '../../registry/http/mask.js';
import { examples } from '../command.js';
import { CommandFault, EXIT } from '../exit.js';
import { type Io, print, say } from '../io.js';
import { findPlace, type Place } from '../place.js';
import { runService } from '../processes/service.js';

interface Known {
  readonly port: number;
  /** In hex. */
  readonly secret: string;
}

export function define(program: Command, io: Io): void {
  const command = program
    .command('console')
    .description('Pages over the mirror for a browser on this machine; runs until it is stopped')
    .action(() => run(io));
  command
    .command('url')
    .description('Print an address that lets a browser in; it is good for one visit')
    .action(() => printAddress(io));
  examples(command, [
    'carbon-mirror console',
    'carbon-mirror console url',
    'open "$(carbon-mirror console url)"',
  ]);
}

async function run(io: Io): Promise<void> {
  const place = findPlace(io);
  const settings = await readSettings(place.env, 'console');
  const { createLog } = await import('../../log/log.js');
  const { startConsole } = await import('../../app/console.js');
  const secret = knownAt(place)?.secret ?? randomBytes(32).toString('hex');
  const log = createLog({
    level: settings.logLevel,
    mask: createMask([secret]),
    now: io.now,
    pretty: io.terminal.stdout,
    fields: { role: 'console' },
  });
  await runService(io, 'console', async () => {
    const setup = {
      openReader: place.engine.openReader,
      secret: Buffer.from(secret, 'hex'),
      port: settings.consolePort,
      orNextPort: !io.env['CONSOLE_PORT'],
      names: settings.consoleNames,
    };
    const running = await startConsole(setup, { log, now: io.now });
    const known = { port: running.port ?? settings.consolePort, secret };
    keep(place, known);
    say(io, io.terminal.stderr ? `Open ${addressOf(known, io)}` : HOW);
    return running;
  });
}

const HOW = 'The console is there. "carbon-mirror console url" prints the address that lets a browser in.';

async function printAddress(io: Io): Promise<void> {
  const place = findPlace(io);
  const known = knownAt(place);
  if (known !== null) return await print(io, addressOf(known, io));
  throw new CommandFault(
    EXIT.notThere,
    `No console has been started over the mirror in ${place.folder}.`,
    'Start one: carbon-mirror console.',
  );
}

function addressOf({ port, secret }: Known, { now }: Io): string {
  const keys = createKeys({ secret: Buffer.from(secret, 'hex'), now });
  return `http://127.0.0.1:${port}/?key=${keys.mint()}`;
}

function fileOf({ folder }: Place): string {
  return join(folder, 'console.json');
}

function knownAt(place: Place): Known | null {
  const file = fileOf(place);
  if (!existsSync(file)) return null;
  const known: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return isKnown(known) ? known : null;
}

function isKnown(value: unknown): value is Known {
  if (typeof value !== 'object' || value === null || !('port' in value) || !('secret' in value)) return false;
  return (
    Number.isInteger(value.port) && typeof value.secret === 'string' && /^[0-9a-f]{64}$/.test(value.secret)
  );
}

/** Who may read this file gets in: it is the owner's alone. */
function keep(place: Place, known: Known): void {
  const file = fileOf(place);
  mkdirSync(place.folder, { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, `${JSON.stringify(known)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
