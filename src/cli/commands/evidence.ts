import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Context } from '../context.js';
import { command, type CommandGroup } from '../command.js';
import { notThereFault, usageFault } from '../exit.js';
import { text } from '../taken.js';

const INIT = command({
  says: 'Make the key that signs checkpoints, in the new file that EVIDENCE_KEY_FILE names',
  options: {
    name: text('name', 'what the log is called in public, as mirror.example/log; never changed later'),
  },
  examples: [
    'EVIDENCE_KEY_FILE=/etc/carbon-mirror/evidence.key carbon-mirror evidence init --name mirror.example/log',
  ],
  run: async (context, { name = `carbon-mirror/${randomBytes(4).toString('hex')}` }) => {
    if (!/^[^\s+\p{C}]{1,100}$/u.test(name))
      throw usageFault(`--name: expected up to 100 letters without space or +, got "${name}".`);
    const file = keyFileOf(context);
    if (existsSync(file)) throw usageFault(`${file} is there already: a key is never written over.`);
    const { makeKeyFile } = await import('../../evidence/key-file.js');
    const { verifierKey } = await import('../../evidence/note.js');
    const key = makeKeyFile(file, name);
    await context.print(key.publicKey.toString('hex'), verifierKey(key));
    context.say(
      `Wrote ${file}. Give these two lines, the key in hex and as C2SP has it, to whoever is to check, by a way of their own.`,
      'Keep the file where the receiver cannot read it, and a copy of it apart.',
    );
  },
});

const CHECKPOINT = command({
  says: 'Print the newest signed checkpoint: whoever keeps a copy can prove that the log was not rewritten since',
  examples: ['carbon-mirror evidence checkpoint > checkpoint-2026-01-31.txt'],
  run: async ({ location, io, say }) => {
    const port = await location().engine.openEvidence();
    try {
      const newest = (await port?.checkpoint(Number.MAX_SAFE_INTEGER)) ?? null;
      if (newest === null)
        throw notThereFault(
          'Nothing is sealed yet.',
          'Is "carbon-mirror work" running, with EVIDENCE_KEY_FILE?',
        );
      io.stdout.write(newest.note);
      say(`Covers ${newest.size} leaves. Send it to somebody who does not run this mirror.`);
    } finally {
      await port?.close();
    }
  },
});

export const EVIDENCE: CommandGroup = {
  says: 'Proofs that a stranger can check without trusting whoever runs the mirror',
  commands: { init: INIT, checkpoint: CHECKPOINT },
};

function keyFileOf({ settings }: Context): string {
  const file = settings().env['EVIDENCE_KEY_FILE'];
  if (file) return file;
  throw usageFault(
    'EVIDENCE_KEY_FILE is not set: it names the file that the key is written to.',
    'Type: EVIDENCE_KEY_FILE=/etc/carbon-mirror/evidence.key carbon-mirror evidence init',
  );
}
