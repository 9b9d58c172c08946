import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { examples } from '../../command.js';
import { envLine } from '../../env-line.js';
import { CommandFault, EXIT } from '../../exit.js';
import { emit, type Io, say } from '../../io.js';
import { demoFolder, demoSettingsFile, readDemoSettings } from '../../place/find-place.js';

const KEY_FILE = 'key.pem';

export function define(program: Command, io: Io): void {
  const demo = program.command('demo').description("The demo's registry, for programs of your own");
  const command = demo
    .command('env')
    .description(
      'Print the settings with which another program is the app of the demo; its key goes into a file',
    )
    .action(async () => await printSettings(io));
  examples(command, [
    'carbon-mirror demo env > demo.env',
    'node --env-file=demo.env docs/examples/retire.js certificate.pdf',
    'carbon-mirror api GET "/app/installations?limit=10&page=0" --as jwt --env-file demo.env',
  ]);
}

async function printSettings(io: Io): Promise<void> {
  const folder = resolve(demoFolder(io.env));
  if (!existsSync(demoSettingsFile(folder))) {
    throw new CommandFault(
      EXIT.usage,
      `There is no demo in ${folder}.`,
      '"carbon-mirror up" makes one where no setting of a registry is there. DATA_DIR says where.',
    );
  }
  const { REGISTRY_PRIVATE_KEY: key = '', ...settings } = readDemoSettings(folder);
  const keyFile = join(folder, KEY_FILE);
  rmSync(keyFile, { force: true });
  writeFileSync(keyFile, key, { mode: 0o600, flag: 'wx' });
  const told = { ...settings, REGISTRY_PRIVATE_KEY_FILE: keyFile, DATA_DIR: folder };
  for (const [name, value] of Object.entries(told)) await emit(io, envLine(name, value ?? ''));
  say(io, `The key is in ${keyFile}. The demo must be running for its registry to answer.`);
}
