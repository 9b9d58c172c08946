import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLeafInput } from '../../src/evidence/port.js';
import { appendLeaf } from '../../src/evidence/log-writer.js';
import { runCommand } from './command.js';
import { type TestEngine, type TestMirror, MINUTE } from './mirror/open.js';
import { amount, credit, installation, retirement } from './mirror/rows.js';
import { storeCertificate } from './certificates.js';
import { temporaryFolder } from './inbox.js';
import { openSealedMirror } from './sealed-mirror.js';

export const RETIREMENTS = [
  retirement('old', { createdAt: '2024-12-31T23:59:59.999Z', amount: amount('7') }),
  retirement('a"; $(b) <i>', {
    createdAt: '2025-05-01T00:00:00.000Z',
    beneficiary: '<script>,"created_at":"x',
  }),
  retirement('b', { createdAt: '2025-05-31T23:59:59.999Z', amount: amount('0.0000001') }),
  retirement('c', { createdAt: '2025-06-01T00:00:00.000Z', comment: 'Zürich \u2028 \\ %s $(id)' }),
];

/** Opens an evidence log of retirements, credits and a certificate. `older` is a file with a checkpoint from before the last round. */
export async function openExportableLog(engine: TestEngine) {
  const log = await openSealedMirror(engine);
  const { stage, port, round } = log;
  await stage.read('retirements', RETIREMENTS);
  mkdirSync(join(stage.folder, 'certificates'), { recursive: true });
  await storeCertificate(stage, 'b');
  await stage.read('inventory', [credit('c-1'), credit('c-2')]);
  await round();
  const older = join(temporaryFolder(), 'older.txt');
  writeFileSync(older, (await port.findCheckpoint(Number.MAX_SAFE_INTEGER))?.note ?? '');
  const change = async () => {
    stage.clock.at += MINUTE;
    await stage.read('inventory', [credit('c-1'), credit(`at-${stage.clock.at}`)]);
    await stage.read('retirements', [retirement('old', { beneficiary: 'Another' }), ...RETIREMENTS.slice(1)]);
    await round();
  };
  await change();
  const env = { ...log.env, REGISTRY_APP_ID: 'a', EVIDENCE_KEY_FILE: log.keyFile };
  const command = (...argv: string[]) => runCommand(argv, { env, now: () => stage.clock.at });
  const write = async (kind: string, ...argv: string[]) => {
    const folder = join(temporaryFolder(), 'folder');
    const outcome = await command('evidence', 'export', kind, folder, ...argv);
    return { folder, ...outcome };
  };
  return { ...log, hex: log.key.publicKey.toString('hex'), older, change, command, write };
}

/** Installs the app on another organization, which has one retirement. */
export async function installOrganization(stage: TestMirror, organizationId: string): Promise<void> {
  const { at } = stage.clock;
  const fields = { state: 'active', claim: 1, startedAt: at, arrivedAt: at, trigger: 'delivery' } as const;
  const installed = installation(`installation-of-${organizationId}`, { organizationId });
  await stage.mirror.writeInstallation({ ...fields, installation: installed });
  await stage.read('retirements', [retirement(`of-${organizationId}`, { organizationId })], {
    organizationId,
  });
}

/**
 * Opens a log of three organizations with an erasure and a new key. `write` exports with an older checkpoint, whose text is
 * `olderCheckpoint`, and `hex` is the key before the new one.
 */
export async function openForgeableLog(engine: TestEngine) {
  const log = await openExportableLog(engine);
  const { stage, change, command, older, sealer, round } = log;
  await installOrganization(stage, 'organization-2');
  await installOrganization(stage, 'organization-3');
  await round();
  await appendLeaf(sealer, createLeafInput('forget', { leaves: 0, at: '2026-01-01T00:00:00.000Z' }));
  await command('evidence', 'renew');
  await change();
  const write = (what: string) => log.write(what, '--since', older);
  return { ...log, write, olderCheckpoint: readFileSync(older, 'utf8') };
}

/** Edits a file of a folder; throws if the edit changes nothing. */
export function alterFile(folder: string, file: string, edit: (text: string) => string): void {
  const path = join(folder, file);
  const before = readFileSync(path, 'utf8');
  const after = edit(before);
  if (after === before) throw new Error(`expected that ${file} changes, and it stays`);
  writeFileSync(path, after);
}
