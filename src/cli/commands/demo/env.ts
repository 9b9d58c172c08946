import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { command, type CommandGroup } from '../../command.js';
import { envLine } from '../../env-line.js';
import { usageFault } from '../../exit.js';
import { emit } from '../../io.js';
import { demoFolder } from '../../connect/find-mirror.js';
import { readDemoSettings } from './settings.js';

const KEY_FILE = 'key.pem';

const env = command({
  says: 'Print settings with which a program of yours acts as the app of the demo; the key goes into a file',
  examples: [
    'carbon-mirror demo env > demo.env',
    'node --env-file=demo.env docs/examples/retire.js certificate.pdf',
    'carbon-mirror api GET "/app/installations?limit=10&page=0" --as jwt --env-file demo.env',
  ],
  run: async ({ io, say }) => {
    const folder = resolve(demoFolder(io.env));
    const known = readDemoSettings(folder);
    if (known === null) {
      throw usageFault(
        `There is no demo in ${folder}.`,
        '"carbon-mirror up" makes one where no setting of a registry is there. DATA_DIR says where.',
      );
    }
    const { REGISTRY_PRIVATE_KEY: key = '', ...settings } = known;
    const keyFile = join(folder, KEY_FILE);
    rmSync(keyFile, { force: true });
    writeFileSync(keyFile, key, { mode: 0o600, flag: 'wx' });
    const told = { ...settings, REGISTRY_PRIVATE_KEY_FILE: keyFile, DATA_DIR: folder };
    for (const [name, value] of Object.entries(told)) await emit(io, envLine(name, value));
    say(`The key is in ${keyFile}. The demo must be running for its registry to answer.`);
  },
});

export const DEMO: CommandGroup = {
  says: "The demo's registry, for programs of your own",
  commands: { env },
};
