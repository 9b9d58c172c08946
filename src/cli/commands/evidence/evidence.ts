/**
 * `evidence`: creates and replaces the signing key of the evidence log, prints its newest checkpoint, and exports folders
 * that outsiders can verify without trusting whoever runs the mirror. The worker seals the log; these commands do not.
 * A key file is never overwritten.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CommandContext } from '../../context.js';
import { defineCommand, type CommandGroup } from '../../define-command.js';
import { createCheckError, createNotFoundError, createUsageError } from '../../command-error.js';
import { withEvidenceLog } from '../../evidence/evidence-log.js';
import { continueRestoredLog, describeRestoredLog } from '../../evidence/restored-log.js';
import { NO_LIMIT } from '../../../evidence/port.js';
import { defineFlag, definePastDate, makeRequired, defineText } from '../../options.js';
import { formatCount } from '../../../text/numbers.js';
import { AUDITOR_NOTES } from './auditor-notes.js';

const INIT = defineCommand({
  summary: 'Create a signing key',
  details: 'Writes the key to the new file that EVIDENCE_KEY_FILE names.',
  options: {
    name: defineText('name', 'public name of the log, such as mirror.example/log; cannot be changed later'),
  },
  examples: [
    'EVIDENCE_KEY_FILE=/etc/carbon-mirror/evidence.key carbon-mirror evidence init --name mirror.example/log',
  ],
  run: async (context, { name = `carbon-mirror/${randomBytes(4).toString('hex')}` }) => {
    if (!/^[^\s+\p{C}]{1,100}$/u.test(name))
      throw createUsageError(`--name: expected up to 100 characters without spaces or +, got "${name}".`);
    const file = requireKeyFile(context);
    if (existsSync(file)) throw createUsageError(`${file} already exists. A key is never overwritten.`);
    if (!existsSync(dirname(file)))
      throw createUsageError(`The folder ${dirname(file)} does not exist. Create it first.`);
    const { createKeyFile } = await import('../../../evidence/key-file.js');
    const { formatVerifierKey } = await import('../../../evidence/signing-key.js');
    const key = createKeyFile(file, name);
    await context.printLines(key.publicKey.toString('hex'), formatVerifierKey(key));
    context.printNotice(
      `Wrote ${file}. Send both lines (the public key in hex and in C2SP format) to the verifier through a separate channel.`,
      'Keep the file where the receiver cannot read it, and store a copy elsewhere.',
      ...AUDITOR_NOTES,
    );
  },
});

const RENEW = defineCommand({
  summary: 'Replace the signing key',
  details: 'The old key signs the new one first. The worker may keep running.',
  examples: ['carbon-mirror evidence renew'],
  run: async context => {
    const file = requireKeyFile(context);
    const { readKeyFile } = await import('../../../evidence/key-file.js');
    const { renewKey } = await import('../../../evidence/renew-key.js');
    const { formatVerifierKey } = await import('../../../evidence/signing-key.js');
    const { now } = context.io;
    const key = await withEvidenceLog(context.requireMirror(), port =>
      renewKey({ port, key: () => readKeyFile(file), now, randomBytes, holder: randomUUID() }, file),
    );
    if (key === null) throw createEmptyEvidenceLogError();
    await context.printLines(key.publicKey.toString('hex'), formatVerifierKey(key));
    context.printNotice(
      `Wrote ${file}. New evidence folders prove the change to anyone who knows the old key. Send the new one to verifiers anyway.`,
      `The old key is now ${file}.until-INSTANT. Keep it as long as you may restore a backup from before the change.`,
    );
  },
});

const RESTORED = defineCommand({
  summary: 'Continue the log after another tool restored the databases',
  details:
    'Stop the worker first. Continues the log under a new name and reports what was lost. Not needed after "carbon-mirror restore".',
  examples: ['carbon-mirror evidence restored'],
  run: async context => {
    const file = requireKeyFile(context);
    const restored = await continueRestoredLog(context.requireMirror(), file, context.io.now);
    if (restored === null) throw createEmptyEvidenceLogError();
    context.printNotice(describeRestoredLog(restored));
  },
});

const DISCARD = defineCommand({
  summary: 'Remove unsigned leaves that this program did not write',
  details:
    'Nothing is signed while such leaves are there; "verify" names them. Signed leaves are never removed. The worker may keep running.',
  examples: ['carbon-mirror evidence discard'],
  run: async context => {
    const file = requireKeyFile(context);
    const { openLastSignedFile, readKeyFile } = await import('../../../evidence/key-file.js');
    const { discardForeignLeaves } = await import('../../../evidence/discard-leaves.js');
    const writing = {
      key: () => readKeyFile(file),
      lastSigned: openLastSignedFile(file),
      now: context.io.now,
      randomBytes,
      holder: randomUUID(),
    };
    const discarded = await withEvidenceLog(context.requireMirror(), port =>
      discardForeignLeaves({ ...writing, port }),
    );
    if (discarded === null) throw createEmptyEvidenceLogError();
    const { foreign, own } = discarded;
    context.printNotice(
      foreign === 0
        ? 'This program wrote all unsigned leaves. Nothing was removed.'
        : `Removed ${formatCount(foreign, 'leaf', 'leaves')} that this program did not write, and ${own} of its own behind them, which the worker seals again. Find out who can write to the database.`,
    );
  },
});

const CHECKPOINT = defineCommand({
  summary: 'Print the newest signed checkpoint',
  details: 'Anyone who keeps a copy can later prove whether the log was rewritten.',
  examples: ['carbon-mirror evidence checkpoint > checkpoint-2026-01-31.txt'],
  run: async ({ requireMirror, io, printNotice }) => {
    const newest = await withEvidenceLog(requireMirror(), async port => {
      const checkpoint = await port.findCheckpoint(NO_LIMIT);
      if (checkpoint === null) return null;
      const requested_at = new Date(io.now()).toISOString();
      await port
        .storeAttestation({
          size: checkpoint.size,
          kind: 'printed',
          requested_at,
          attested_at: null,
          token: null,
        })
        /** Printing matters more than the reminder of "doctor": a reader may not write. */
        .catch(() => undefined);
      return checkpoint;
    });
    if (newest === null) throw createEmptyEvidenceLogError();
    io.stdout.write(newest.note);
    printNotice(`Covers ${newest.size} leaves. Send it to someone who does not run this mirror.`);
  },
});

const EXPORT = defineCommand({
  summary: 'Export evidence for an outside verifier',
  details:
    'Run "carbon-mirror evidence init" first: it creates the signing key. ' +
    'Writes a folder of rows, documents, PDFs and proofs that can be checked without trusting whoever runs the mirror. ' +
    'A folder has at most 256 MiB of text, about 100,000 rows; a larger export is refused.',
  args: {
    what: makeRequired(
      defineText('what', 'a retirement id, an organization, or a period such as 2025 or 2025-05'),
    ),
    folder: makeRequired(defineText('folder', 'a new or empty folder')),
  },
  options: {
    since: defineText(
      'checkpoint',
      'file of an older checkpoint; the folder proves that the log continues from it',
    ),
    asOf: definePastDate('use the newest checkpoint signed by this date'),
    nameOthers: defineFlag('also name the known organizations that the folder is not about'),
  },
  examples: [
    'carbon-mirror evidence export 2025 evidence-2025 --since checkpoint-2025-01-31.txt',
    'carbon-mirror verify --evidence evidence-2025 --key KEY --since checkpoint-2025-01-31.txt',
  ],
  run: async (context, { what, folder, since, asOf, nameOthers }) => {
    const { EvidenceError } = await import('../../../evidence/evidence-error.js');
    const { MAX_TEXT_BYTES } = await import('../../../evidence/checker/folder-files.js');
    const { exportEvidenceFolder } = await import('./export-evidence.js');
    const written = await withEvidenceLog(context.requireMirror(), port => {
      const older = since === undefined ? null : readFileSync(since, 'utf8');
      const at = asOf === undefined ? null : Date.parse(asOf.until);
      return exportEvidenceFolder(context, port, { what, folder, asOf: at, since: older, nameOthers });
    }).catch((error: unknown) => {
      throw error instanceof EvidenceError ? createCheckError(`Not exported: ${error.message}.`) : error;
    });
    if (written === null) throw createEmptyEvidenceLogError();
    context.printNotice(
      `Wrote ${formatCount(written.retirements, 'retirement')}, ${formatCount(written.others, 'other row')} and ${formatCount(written.certificates, 'certificate')} as of the checkpoint of ${written.size} leaves to ${folder}.`,
      `evidence.jsonl has ${formatMebibytes(written.bytes)} of at most ${formatMebibytes(MAX_TEXT_BYTES)} that a checker reads.`,
      ...AUDITOR_NOTES,
    );
  },
});

export const EVIDENCE: CommandGroup = {
  summary: 'Create proofs that outsiders can verify',
  details: '`verify --evidence` checks an exported folder.',
  commands: {
    init: INIT,
    renew: RENEW,
    restored: RESTORED,
    discard: DISCARD,
    checkpoint: CHECKPOINT,
    export: EXPORT,
  },
};

/** Creates the error for a mirror without an evidence log, with advice on how to start one. */
function createEmptyEvidenceLogError() {
  return createNotFoundError('Nothing is sealed yet.', [
    'Create a key with "carbon-mirror evidence init", then restart "carbon-mirror work" with EVIDENCE_KEY_FILE.',
    'The worker reads the key when it starts, and seals within a minute.',
  ]);
}

/** Formats a number of bytes, such as "12.5 MiB". */
function formatMebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

/**
 * Returns the path in the setting EVIDENCE_KEY_FILE, from the environment or the settings file of the mirror. Throws a usage error if
 * it is missing.
 */
function requireKeyFile({ findMirror }: CommandContext): string {
  const file = findMirror().env['EVIDENCE_KEY_FILE'];
  if (file) return file;
  throw createUsageError(
    'EVIDENCE_KEY_FILE is not set. It names the file of the signing key.',
    'For example: EVIDENCE_KEY_FILE=/etc/carbon-mirror/evidence.key carbon-mirror evidence init',
  );
}
