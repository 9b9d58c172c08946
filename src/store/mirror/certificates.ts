import type {
  CertificateDownload,
  CertificateWriteResult,
  DueCertificate,
  MirrorPort,
} from '../../mirror/port.js';
import { CERTIFICATES } from '../../resources/certificates.js';
import { formatInstant } from '../../resources/sql-values.js';
import type { Tables } from '../contract/tables.js';
import type { Table } from '../dialect.js';
import { type BoundStatement, type Batch, fixed, statement, type Database } from '../statement.js';
import { startCommit, listStartStatements, endCommit, reserveVersions } from './syncs.js';
import { type VersionEnd, createVersionStatements } from './versions.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const CHECK_AGAIN_MS = 30 * DAY_MS;
const FAILED_FIRST_MS = 5 * MINUTE_MS;
const ENTER_AT_ONCE = 250;
const DUE_AT_ONCE = 500;

/** Where the PDFs are kept, for those who write rows. */
export interface CertificateFiles {
  /** Those that are there; nobody removes one of them until the transaction has ended. */
  readonly among: (batch: Batch, files: readonly string[]) => Promise<ReadonlySet<string>>;
  /** BatchResults how many were there. */
  readonly remove: (batch: Batch, files: readonly string[]) => Promise<number>;
}

type Known = Pick<
  Tables['certificates'],
  'retirement_id' | 'version' | 'state' | 'sha256' | 'attempts' | 'valid_from'
>;
type Next = {
  readonly at: string;
  readonly dueAt: string;
  readonly retirementVersion: number;
  readonly known: number;
};

const IDS = { id: 'text' } as const;
const KNOWN = statement<{ organizationId: string; ids: Table }, Known>(
  ({ rows }) =>
    `SELECT retirement_id, version, state, sha256, attempts, valid_from FROM mirror.certificates
     WHERE organization_id = @organizationId AND retirement_id IN (SELECT g.id FROM ${rows('@ids', 'g', IDS)})`,
);
const DUE = statement<{ organizationId: string; at: string; limit: number }, DueCertificate>(
  `SELECT retirement_id AS "retirementId", state, attempts, retirement_version AS "retirementVersion"
   FROM mirror.certificates
   WHERE organization_id = @organizationId AND due_at <= @at ORDER BY due_at, version LIMIT @limit`,
);
const MAKE_DUE = {
  all: makeDueWhere('true'),
  failed: makeDueWhere('error IS NOT NULL'),
  ahead: makeDueWhere('coalesce(checked_at, valid_from) > @at'),
} as const;

function makeDueWhere(condition: string) {
  return statement<{ organizationId: string; at: string }, { readonly version: number }>(
    `UPDATE mirror.certificates SET due_at = @at WHERE version IN (
       SELECT version FROM mirror.certificates
       WHERE organization_id = @organizationId AND due_at > @at AND ${condition} LIMIT ${DUE_AT_ONCE})
     RETURNING version`,
  );
}

const NEXT = `checked_at = @at,
  due_at = CASE WHEN retirement_version = @retirementVersion THEN @dueAt ELSE due_at END`;
const STORE = statement<
  Next & { version: number; file: string; sha256: string; size: number; validFrom: string; syncId: number }
>(
  `UPDATE mirror.certificates SET version = @version, state = 'stored', file = @file, sha256 = @sha256, size = @size,
     fetched_at = @at, ${NEXT}, attempts = 0, error = NULL, valid_from = @validFrom, sync_id = @syncId
   WHERE version = @known`,
);
const CONFIRM = statement<Next & { file: string }>(
  `UPDATE mirror.certificates SET file = @file, ${NEXT}, attempts = 0, error = NULL WHERE version = @known`,
);
const POSTPONE = statement<Next & { state: string; error: string | null }>(
  `UPDATE mirror.certificates SET state = @state, ${NEXT}, attempts = attempts + 1, error = @error
   WHERE version = @known`,
);

const FAILED = statement<{ organizationId: string; limit: number }, DueCertificate>(
  `SELECT retirement_id AS "retirementId", state, attempts, retirement_version AS "retirementVersion"
   FROM mirror.certificates
   WHERE organization_id = @organizationId AND error IS NOT NULL AND state <> 'stored' ORDER BY version LIMIT @limit`,
);

const MARK = '(SELECT retirement_version FROM mirror.certificate_mark)';
/** One after the other: what the next one enters begins where this one has ended. */
const HOLD_MARK = fixed(
  ({ forUpdate }) => `SELECT retirement_version FROM mirror.certificate_mark ${forUpdate}`,
);
const BEHIND = fixed<{ readonly count: number; readonly last: number | null }>(
  `SELECT count(*) AS count, max(version) AS last FROM (
     SELECT version FROM mirror.retirements WHERE version > ${MARK} ORDER BY version LIMIT ${ENTER_AT_ONCE}
   ) AS behind`,
);
/** Certificates follow their retirements by version: a new version of a retirement is beyond the mark. */
const ENTER = statement<{ count: number; last: number; at: string }>(
  ({ as, least }) =>
    `INSERT INTO mirror.certificates AS c
       (version, organization_id, retirement_id, state, due_at, retirement_version, valid_from)
     SELECT (SELECT last FROM mirror.version_counter) - ${as('int', '@count')} + row_number() OVER (ORDER BY version),
       organization_id, id, 'pending', ${as('instant', '@at')}, version, ${as('instant', '@at')}
     FROM mirror.retirements WHERE version > ${MARK} AND version <= @last
     ON CONFLICT (organization_id, retirement_id) DO UPDATE SET due_at = ${least('c.due_at', 'excluded.due_at')},
       retirement_version = excluded.retirement_version, attempts = 0`,
);
const MOVE_MARK = statement<{ last: number }>(
  'UPDATE mirror.certificate_mark SET retirement_version = @last',
);

/** A file may have been removed by a purge since it was stored: then its certificate is due as it was. */
export function createCertificates(
  { look, transact }: Database,
  files: CertificateFiles,
): Pick<MirrorPort, 'makeCertificatesDue' | 'listDueCertificates' | 'writeCertificates'> {
  const versions = createVersionStatements(CERTIFICATES);

  async function enterSome(batch: Batch, at: string): Promise<number> {
    const [, [behind]] = await batch(HOLD_MARK, BEHIND);
    const { count, last } = behind ?? { count: 0, last: null };
    if (last !== null) await batch(reserveVersions(count), ENTER({ count, last, at }), MOVE_MARK({ last }));
    return count;
  }

  return {
    makeCertificatesDue: (due, now) =>
      transact(async batch => {
        const at = formatInstant(now);
        if (due === 'new') return await enterSome(batch, at);
        const { organizationId, filter: which } = due;
        return (await batch(MAKE_DUE[which]({ organizationId, at })))[0].length;
      }),
    listDueCertificates: async (organizationId, at, limit) =>
      (
        await look(
          at === null
            ? FAILED({ organizationId, limit })
            : DUE({ organizationId, at: formatInstant(at), limit }),
        )
      )[0],
    writeCertificates: (sync, answers) =>
      transact(async batch => {
        const { organizationId } = sync.request;
        const ids = { columns: IDS, rows: answers.map(({ retirementId }) => [retirementId]) };
        const [, seen, installations, states, , last, syncIds, known, ended] = await batch(
          ...listStartStatements(sync, answers.length),
          KNOWN({ organizationId, ids }),
          versions.selectLastEnds(answers.map(({ retirementId }) => [organizationId, retirementId])),
        );
        const entered = startCommit(sync, answers.length, {
          seen,
          installations,
          states,
          ids: syncIds,
          last,
        });
        const { id: syncId, firstVersion: first, clock: dates } = entered;
        const came = answers.flatMap(({ result: each }) => (each.kind === 'file' ? [each.file.file] : []));
        const there = await files.among(batch, came);
        const knownOf = new Map(known.map(row => [row.retirement_id, row]));
        const endedAt = new Map(ended.map(row => [row['retirement_id'], row['valid_to']]));
        const closings: VersionEnd[] = [];
        const statements: BoundStatement[] = [];

        function writeOne(answer: CertificateDownload, n: number): CertificateWriteResult {
          const row = knownOf.get(answer.retirementId);
          if (answer.result.kind !== 'file') {
            if (row !== undefined) statements.push(POSTPONE(postponed(answer, row)));
            return 'noted';
          }
          const { file, observedAt } = answer.result;
          if (row === undefined || !there.has(file.file)) return 'gone';
          const next = nextOf(answer, row, CHECK_AGAIN_MS);
          if (row.sha256 === file.sha256) {
            statements.push(CONFIRM({ ...next, file: file.file }));
            return 'unchanged';
          }
          const isStored = row.state === 'stored';
          const before = isStored ? row.valid_from : endedAt.get(answer.retirementId);
          const validFrom = dates.assignInstant(observedAt, before ?? null);
          const version = first + n;
          if (isStored)
            closings.push({ version: row.version, at: validFrom, changeNumber: version, isRemoved: false });
          statements.push(STORE({ ...file, ...next, validFrom, syncId, version }));
          return isStored ? 'replaced' : 'stored';
        }

        const written = answers.map(writeOne);
        const count = (word: CertificateWriteResult) => written.filter(each => each === word).length;
        const counts = { added: count('stored'), changed: count('replaced'), unchanged: count('unchanged') };
        const { statements: books, result: done } = endCommit(entered, counts);
        const archived = closings.length === 0 ? null : versions.copyToPast(closings, syncId);
        await batch(archived, ...statements, ...books);
        return { ...done, written };
      }),
  };
}

/** Without a certificate: after a day, then two, up to thirty. After a fault: five minutes, doubling up to a day. */
function postponed(answer: CertificateDownload, known: Known) {
  if (answer.result.kind === 'fault') {
    const wait = Math.min(DAY_MS, FAILED_FIRST_MS * 2 ** known.attempts);
    return { ...nextOf(answer, known, wait), state: known.state, error: answer.result.error };
  }
  const wait = Math.min(CHECK_AGAIN_MS, DAY_MS * 2 ** known.attempts);
  const isStored = known.state === 'stored';
  const error = isStored ? 'the registry had none when it was asked again' : null;
  return { ...nextOf(answer, known, wait), state: isStored ? 'stored' : 'unavailable', error };
}

/** When it was asked for, and when it is due next unless its retirement has changed meanwhile. */
function nextOf(
  { requestedAt, retirementVersion }: CertificateDownload,
  { version }: Known,
  waitMs: number,
): Next {
  return {
    at: formatInstant(requestedAt),
    dueAt: formatInstant(requestedAt + waitMs),
    retirementVersion,
    known: version,
  };
}
