import { write } from '../database/open.js';
import type { Books } from './books.js';
import { formatInstant } from './columns.js';

/** The columns that certificates and certificates_past share. */
export const CERTIFICATE_COLUMNS = [
  'version',
  'organization_id',
  'retirement_id',
  'state',
  'file',
  'sha256',
  'size',
  'fetched_at',
  'checked_at',
  'due_at',
  'attempts',
  'error',
  'retirement_version',
  'valid_from',
  'sync_run_id',
] as const;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const CHECK_AGAIN_MS = 30 * DAY_MS;
const FAILED_FIRST_MS = 5 * MINUTE_MS;
const ENTER_AT_ONCE = 250;
const DUE = 'iif(retirement_version = @retirement_version, @due_at, due_at)';

export interface CertificateFile {
  readonly file: string;
  readonly sha256: string;
  readonly size: number;
}

export interface DueCertificate {
  readonly retirement_id: string;
  readonly state: 'pending' | 'unavailable' | 'stored';
  readonly attempts: number;
  readonly retirement_version: number;
}

interface Known {
  readonly version: number;
  readonly state: 'pending' | 'unavailable' | 'stored';
  readonly sha256: string | null;
  readonly attempts: number;
  readonly valid_from: string;
}

export interface Moment {
  readonly organizationId: string;
  readonly retirementId: string;
  /** When the registry was asked, in milliseconds. */
  readonly askedAt: number;
  /** The retirement for which it was due. One that has changed since then is due again, whatever came. */
  readonly retirementVersion: number;
}

/** gone: the retirement was closed or purged meanwhile, so that there is no row to write to, or no file. */
export type Stored = 'stored' | 'replaced' | 'unchanged' | 'gone';

/** Answers the instant of a new version, after the latest that its row had. */
export type Dating = (before: string | null) => string;

export interface CertificateRows {
  /** Enters certificates for new and changed retirements; answers how many, 0 when all are entered. */
  enter(at: number): number;
  due(organizationId: string, at: number, limit: number): DueCertificate[];
  /** Makes up to `limit` of an organization's certificates due; answers how many. */
  makeDue(organizationId: string, at: number, limit: number): number;
  /** The same for those that were looked at in the future, before the clock was put right. */
  makeAheadDue(organizationId: string, at: number, limit: number): number;
  /** These three write inside a transaction of the caller. */
  store(moment: Moment, file: CertificateFile, date: Dating, runId: number): Stored;
  unavailable(moment: Moment): void;
  fail(moment: Moment, error: string): void;
}

export function createCertificateRows(books: Books): CertificateRows {
  const { db } = books;
  const names = CERTIFICATE_COLUMNS.join(', ');
  const WHOSE = 'organization_id = ? AND retirement_id = ?';
  const find = db.prepare<[string, string], Known>(
    `SELECT version, state, sha256, attempts, valid_from FROM certificates WHERE ${WHOSE}`,
  );
  const due = db.prepare<[string, string, number], DueCertificate>(
    `SELECT retirement_id, state, attempts, retirement_version FROM certificates
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
    .prepare<[string, string], string | null>(`SELECT max(valid_to) FROM certificates_past WHERE ${WHOSE}`)
    .pluck();
  const archive = db.prepare<[string, number, number]>(
    `INSERT INTO certificates_past (${names}, valid_to, closed_by)
     SELECT ${names}, ?, ? FROM certificates WHERE version = ?`,
  );
  const store = db.prepare(
    `UPDATE certificates SET version = @version, state = 'stored', file = @file, sha256 = @sha256, size = @size,
       fetched_at = @at, checked_at = @at, due_at = ${DUE}, attempts = 0, error = NULL, valid_from = @valid_from,
       sync_run_id = @sync_run_id
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
  const enterSlice = createEnter(books);

  return {
    enter: at => write(db, () => enterSlice(at)),
    due: (organizationId, at, limit) => due.all(organizationId, formatInstant(at), limit),
    makeDue: (organizationId, at, limit) => {
      const now = formatInstant(at);
      return write(db, () => makeDue.run(now, organizationId, now, limit).changes);
    },
    makeAheadDue: (organizationId, at, limit) => {
      const now = formatInstant(at);
      return write(db, () => makeAheadDue.run(now, organizationId, now, now, limit).changes);
    },
    store: (moment, file, date, runId) => {
      const known = find.get(moment.organizationId, moment.retirementId);
      if (known === undefined) return 'gone';
      const next = nextOf(moment, known, CHECK_AGAIN_MS);
      if (known.sha256 === file.sha256) {
        confirm.run({ ...next, file: file.file });
        return 'unchanged';
      }
      const isStored = known.state === 'stored';
      const before = isStored ? known.valid_from : lastEnd.get(moment.organizationId, moment.retirementId);
      const validFrom = date(before ?? null);
      if (isStored) archive.run(validFrom, runId, known.version);
      store.run({
        ...file,
        ...next,
        valid_from: validFrom,
        sync_run_id: runId,
        version: books.versions(1),
      });
      return isStored ? 'replaced' : 'stored';
    },
    unavailable: moment => {
      const known = find.get(moment.organizationId, moment.retirementId);
      if (known === undefined) return;
      const wait = Math.min(CHECK_AGAIN_MS, DAY_MS * 2 ** known.attempts);
      const isStored = known.state === 'stored';
      const error = isStored ? 'the registry had none when it was asked again' : null;
      const state = isStored ? 'stored' : 'unavailable';
      postpone.run({ ...nextOf(moment, known, wait), state, error });
    },
    fail: (moment, error) => {
      const known = find.get(moment.organizationId, moment.retirementId);
      if (known === undefined) return;
      const wait = Math.min(DAY_MS, FAILED_FIRST_MS * 2 ** known.attempts);
      postpone.run({ ...nextOf(moment, known, wait), state: known.state, error });
    },
  };
}

/** When it was asked for, and when it is due next unless its retirement has changed meanwhile. */
function nextOf({ askedAt, retirementVersion }: Moment, { version }: Known, waitMs: number) {
  return {
    at: formatInstant(askedAt),
    due_at: formatInstant(askedAt + waitMs),
    retirement_version: retirementVersion,
    known: version,
  };
}

/** Certificates follow their retirements by version: a new version of a retirement is beyond the mark. */
function createEnter(books: Books): (at: number) => number {
  const { db } = books;
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
    enter.run({ first: books.versions(count), last, at: formatInstant(at) });
    move.run(last);
    return count;
  };
}
