import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Context } from '../../context.js';
import { command, type CommandGroup } from '../../command.js';
import { checkFault, notThereFault, usageFault } from '../../exit.js';
import { beginOrigin, describeRestored, withLog } from '../../sealed.js';
import { ALL } from '../../../evidence/port.js';
import { date, needed, text } from '../../options.js';
import { formatCount } from '../../../text/numbers.js';

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
    if (!existsSync(dirname(file)))
      throw usageFault(`The folder ${dirname(file)} is not there: make it first.`);
    const { makeKeyFile } = await import('../../../evidence/key-file.js');
    const { verifierKey } = await import('../../../evidence/note.js');
    const key = makeKeyFile(file, name);
    await context.print(key.publicKey.toString('hex'), verifierKey(key));
    context.say(
      `Wrote ${file}. Give these two lines, the key in hex and as C2SP has it, to whoever is to check, by a way of their own.`,
      'Keep the file where the receiver cannot read it, and a copy of it apart.',
    );
  },
});

const RENEW = command({
  says: 'Replace the key that signs checkpoints, after it has signed the new one; the worker may run',
  examples: ['carbon-mirror evidence renew'],
  run: async context => {
    const file = keyFileOf(context);
    const { renewKey } = await import('../../../evidence/renew.js');
    const { verifierKey } = await import('../../../evidence/note.js');
    const { now } = context.io;
    const key = await withLog(context.location(), port =>
      renewKey({ port, now, randomBytes, holder: randomUUID() }, file),
    );
    if (key === null) throw nothingSealed();
    await context.print(key.publicKey.toString('hex'), verifierKey(key));
    context.say(
      `Wrote ${file}. Whoever knows the key before is led to this one by every folder from now on; tell them all the same.`,
      `The key before stands beside it, as ${file}.until-INSTANT: keep it as long as a backup from before may be put back.`,
    );
  },
});

const RESTORED = command({
  says: 'Go on under a new name after other tools than "restore" put a log back, and say what is lost; no worker runs',
  examples: ['carbon-mirror evidence restored'],
  run: async context => {
    const file = keyFileOf(context);
    const restored = await beginOrigin(context.location(), file, context.io.now);
    if (restored === null) throw nothingSealed();
    context.say(describeRestored(restored));
  },
});

const CHECKPOINT = command({
  says: 'Print the newest signed checkpoint: whoever keeps a copy can prove that the log was not rewritten since',
  examples: ['carbon-mirror evidence checkpoint > checkpoint-2026-01-31.txt'],
  run: async ({ location, io, say }) => {
    const newest = await withLog(location(), port => port.checkpoint(ALL));
    if (newest === null) throw nothingSealed();
    io.stdout.write(newest.note);
    say(`Covers ${newest.size} leaves. Send it to somebody who does not run this mirror.`);
  },
});

const EXPORT = command({
  says: 'Write a folder that somebody else can check without trusting whoever runs the mirror: rows, documents, PDFs and proofs',
  words: {
    what: needed(text('what', 'a retirement by its id, an organization, or a period like 2025 or 2025-05')),
    folder: needed(text('folder', 'a folder that is empty or not there yet')),
  },
  options: {
    since: text(
      'checkpoint',
      'the file of an older checkpoint that somebody holds: the folder leads on from it',
    ),
    asOf: date('by the newest checkpoint that was signed by the end of'),
  },
  examples: [
    'carbon-mirror evidence export 2025 evidence-2025 --since checkpoint-2025-01-31.txt',
    '(cd evidence-2025 && sh /your/own/check.sh KEY ../checkpoint-2025-01-31.txt)',
  ],
  run: async (context, { what, folder, since, asOf }) => {
    const { EvidenceError } = await import('../../../evidence/errors.js');
    const { headOf } = await import('../../../evidence/checkpoint.js');
    const { writeEvidence } = await import('./export.js');
    const written = await withLog(context.location(), port => {
      const older = since === undefined ? null : headOf(readFileSync(since, 'utf8'));
      const at = asOf === undefined ? null : Date.parse(asOf.until);
      return writeEvidence(context, port, { what, folder, asOf: at, since: older });
    }).catch((error: unknown) => {
      throw error instanceof EvidenceError ? checkFault(`Not exported: ${error.message}.`) : error;
    });
    if (written === null) throw nothingSealed();
    context.say(
      `Wrote ${formatCount(written.retirements, 'retirement')} and ${formatCount(written.others, 'other row')} as of the checkpoint of ${written.size} leaves to ${folder}, ${written.files} files.`,
      'Whoever checks it takes check.sh, the key and an older checkpoint from elsewhere: README.txt says why.',
    );
  },
});

export const EVIDENCE: CommandGroup = {
  says: 'Proofs that a stranger can check without trusting whoever runs the mirror; `verify --evidence` checks a folder of them',
  commands: { init: INIT, renew: RENEW, restored: RESTORED, checkpoint: CHECKPOINT, export: EXPORT },
};

function nothingSealed() {
  return notThereFault('Nothing is sealed yet.', [
    '"carbon-mirror evidence init" makes the key. Start "carbon-mirror work" again with EVIDENCE_KEY_FILE: it reads the key at its start,',
    'and seals within a minute.',
  ]);
}

function keyFileOf({ settings }: Context): string {
  const file = settings().env['EVIDENCE_KEY_FILE'];
  if (file) return file;
  throw usageFault(
    'EVIDENCE_KEY_FILE is not set: it names the file that the key is written to.',
    'Type: EVIDENCE_KEY_FILE=/etc/carbon-mirror/evidence.key carbon-mirror evidence init',
  );
}
