import type { Tables } from '../../contract/tables.js';
import { write } from '../open.js';
import { formatInstant } from '../../../resources/columns.js';
import { CERTIFICATES } from '../../../resources/certificates.js';
import type { CertificateFile } from '../../../mirror/pdf-store.js';
import type { CertificateAnswer, CertificateWritten, DueCertificate } from '../../../mirror/port.js';
import type { CertificateFiles } from './files.js';
import type { MirrorOperations } from './operations.js';
import type { SyncRows } from './sync-rows.js';
import { countWritten, type EnteredSync, type Syncs } from './syncs.js';
import { createArchive } from './versions.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const CHECK_AGAIN_MS = 30 * DAY_MS;
const FAILED_FIRST_MS = 5 * MINUTE_MS;
const ENTER_AT_ONCE = 250;
const DUE_AT_ONCE = 500;
const FETCHED = { stored: 'added', replaced: 'changed', unchanged: 'unchanged' } as const;
const DUE = 'iif(retirement_version = @retirement_version, @due_at, due_at)';

type Known = Pick<Tables['certificates'], 'version' | 'state' | 'sha256' | 'attempts' | 'valid_from'>;

/** A file may have been removed by a purge since it was stored: then its certificate is due as it was. */
export function createCertificates(
  syncRows: SyncRows,
  syncs: Syncs,
  files: CertificateFiles,
): Pick<
  MirrorOperations,
  'enterCertificates' | 'makeCertificatesDue' | 'dueCertificates' | 'writeCertificates'
> {
  const { db } = syncRows;
  const WHOSE = 'organization_id = ? AND retirement_id = ?';
  const find = db.prepare<[string, string], Known>(
    `SELECT version, state, sha256, attempts, valid_from FROM certificates WHERE ${WHOSE}`,
  );
  const due = db.prepare<[string, string, number], DueCertificate>(
    `SELECT retirement_id AS retirementId, state, attempts, retirement_version AS retirementVersion
     FROM certificates
     WHERE organization_id = ? AND due_at <= ? ORDER BY due_at, version LIMIT ?`,
  );
  const makeDue = db.prepare<[string, string, string, number]>(
    `UPDATE certificates SET due_at = ?
     WHERE version IN (SELECT version FROM certificates WHERE organization_id = ? AND due_at > ? LIMIT ?)`,
  );
  const makeAheadDue = db.prepare<[string, string, string, string, number]>(
    `UPDATE certificates SET due_at = ?
     WHERE version IN (SELECT version FROM certificates
       WHERE organization_id = ? AND due_at > ? AND checked_at > ? LIMIT ?)`,
  );
  const lastEnd = db
    .prepare<[string, string], string | null>(`SELECT max(valid_to) FROM certificates_history WHERE ${WHOSE}`)
    .pluck();
  const toPast = createArchive(db, CERTIFICATES);
  const store = db.prepare(
    `UPDATE certificates SET version = @version, state = 'stored', file = @file, sha256 = @sha256, size = @size,
       fetched_at = @at, checked_at = @at, due_at = ${DUE}, attempts = 0, error = NULL, valid_from = @valid_from,
       sync_id = @sync_id
     WHERE version = @known`,
  );
  const confirm = db.prepare(
    `UPDATE certificates SET file = @file, checked_at = @at, due_at = ${DUE}, attempts = 0, error = NULL
     WHERE version = @known`,
  );
  const postpone = db.prepare(
    `UPDATE certificates SET state = @state, checked_at = @at, due_at = ${DUE}, attempts = attempts + 1,
       error = @error
     WHERE version = @known`,
  );
  const enterSlice = createEnter(syncRows);

  function storeOne(
    answer: CertificateAnswer,
    known: Known,
    file: CertificateFile,
    date: () => string,
    syncId: number,
  ): CertificateWritten {
    const next = nextOf(answer, known, CHECK_AGAIN_MS);
    if (known.sha256 === file.sha256) {
      confirm.run({ ...next, file: file.file });
      return 'unchanged';
    }
    const validFrom = date();
    const isStored = known.state === 'stored';
    const version = syncRows.versions(1);
    if (isStored) toPast(known.version, { at: validFrom, syncId, number: version, isRemoved: false });
    store.run({ ...file, ...next, valid_from: validFrom, sync_id: syncId, version });
    return isStored ? 'replaced' : 'stored';
  }

  function writeOne(answer: CertificateAnswer, { sync, id, dates }: EnteredSync): CertificateWritten {
    const { organizationId } = sync.request;
    const known = find.get(organizationId, answer.retirementId);
    const { came } = answer;
    if (known !== undefined && came.kind === 'file' && files.has(came.file.file)) {
      const before =
        known.state === 'stored' ? known.valid_from : lastEnd.get(organizationId, answer.retirementId);
      return storeOne(answer, known, came.file, () => dates.give(came.observedAt, before ?? null), id);
    }
    if (came.kind === 'file') return 'gone';
    if (known !== undefined) postpone.run(postponed(answer, known));
    return 'noted';
  }

  return {
    enterCertificates: at => write(db, () => enterSlice(at)),
    dueCertificates: (organizationId, at, limit) => due.all(organizationId, formatInstant(at), limit),
    makeCertificatesDue: (organizationId, which, at) => {
      const now = formatInstant(at);
      return write(db, () =>
        which === 'all'
          ? makeDue.run(now, organizationId, now, DUE_AT_ONCE).changes
          : makeAheadDue.run(now, organizationId, now, now, DUE_AT_ONCE).changes,
      );
    },
    writeCertificates: (sync, answers) =>
      write(db, () => {
        const entered = syncs.enter(sync);
        const written = answers.map(answer => writeOne(answer, entered));
        return { ...syncs.leave(entered, countWritten(written, FETCHED), null), written };
      }),
  };
}

/** Without a certificate: after a day, then two, up to thirty. After a fault: five minutes, doubling up to a day. */
function postponed(answer: CertificateAnswer, known: Known) {
  if (answer.came.kind === 'fault') {
    const wait = Math.min(DAY_MS, FAILED_FIRST_MS * 2 ** known.attempts);
    return { ...nextOf(answer, known, wait), state: known.state, error: answer.came.error };
  }
  const wait = Math.min(CHECK_AGAIN_MS, DAY_MS * 2 ** known.attempts);
  const isStored = known.state === 'stored';
  const error = isStored ? 'the registry had none when it was asked again' : null;
  return { ...nextOf(answer, known, wait), state: isStored ? 'stored' : 'unavailable', error };
}

/** When it was asked for, and when it is due next unless its retirement has changed meanwhile. */
function nextOf({ askedAt, retirementVersion }: CertificateAnswer, { version }: Known, waitMs: number) {
  return {
    at: formatInstant(askedAt),
    due_at: formatInstant(askedAt + waitMs),
    retirement_version: retirementVersion,
    known: version,
  };
}

/** Certificates follow their retirements by version: a new version of a retirement is beyond the mark. */
function createEnter(syncRows: SyncRows): (at: number) => number {
  const { db } = syncRows;
  const behind = db.prepare<[number], { count: number; last: number | null }>(
    `SELECT count(*) AS count, max(version) AS last FROM (
       SELECT version FROM retirements
       WHERE version > (SELECT retirement_version FROM certificate_mark) ORDER BY version LIMIT ?
     )`,
  );
  const enter = db.prepare(
    `INSERT INTO certificates (version, organization_id, retirement_id, state, due_at, retirement_version, valid_from)
     SELECT @first + row_number() OVER (ORDER BY version) - 1, organization_id, id, 'pending', @at, version, @at
     FROM retirements
     WHERE version > (SELECT retirement_version FROM certificate_mark) AND version <= @last
     ON CONFLICT (organization_id, retirement_id) DO UPDATE SET
       due_at = min(due_at, excluded.due_at), retirement_version = excluded.retirement_version, attempts = 0`,
  );
  const move = db.prepare<[number]>('UPDATE certificate_mark SET retirement_version = ?');
  return at => {
    const { count, last } = behind.get(ENTER_AT_ONCE) ?? { count: 0, last: null };
    if (last === null) return 0;
    enter.run({ first: syncRows.versions(count), last, at: formatInstant(at) });
    move.run(last);
    return count;
  };
}
