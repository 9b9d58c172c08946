import { type RawBuilder, sql } from 'kysely';
import type { CertificateDownload, CertificateWriteResult } from '../../mirror/port/certificates.js';
import type { MirrorPort } from '../../mirror/port/mirror-port.js';
import { CERTIFICATES } from '../../resources/certificates.js';
import { formatInstant } from '../../resources/sql-values.js';
import type { CertificateState } from '../contract/states.js';
import type { Table } from '../dialect.js';
import { insertFrom, jsonRelation, tableRef, sqlStatement } from '../sql/columns.js';
import { type Params, prepared, type ResultRow } from '../sql/prepared.js';
import type { BoundStatement, RunBatch, Database } from '../statement.js';
import { beginCommit, buildCommitEnd, buildVersionReservation } from './syncs.js';
import { type VersionEnd, getVersionStatements } from './row-versions.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const RECHECK_MS = 30 * DAY_MS;
const FIRST_RETRY_MS = 5 * MINUTE_MS;
/** How many new versions of retirements one transaction follows. */
const FOLLOW_LIMIT = 250;
/** How many certificates one transaction makes due. */
const MAKE_DUE_LIMIT = 500;

/** Access to the stored PDFs within transactions that write rows. */
export interface CertificateFiles {
  /** Returns which of the files are stored. None of these is removed before the transaction ends. */
  readonly findStored: (batch: RunBatch, files: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Removes files and returns how many were stored. */
  readonly remove: (batch: RunBatch, files: readonly string[]) => Promise<number>;
}

const own = tableRef('mirror.certificates');

const retirementIds = jsonRelation('given', { id: 'text' });
type GivenCertificates = { readonly organizationId: string; readonly ids: Table };
const LIST_BY_RETIREMENT = prepared(({ db, fn }, { organizationId, ids }: Params<GivenCertificates>) =>
  db
    .selectFrom('mirror.certificates')
    .select(['retirement_id', 'version', 'state', 'sha256', 'attempts', 'valid_from'])
    .where('organization_id', '=', organizationId)
    .where(
      'retirement_id',
      'in',
      sql<string>`(SELECT ${retirementIds.columns.id} FROM ${retirementIds.from(fn, ids)})`,
    ),
);
type StoredCertificate = ResultRow<typeof LIST_BY_RETIREMENT>;

const DUE_COLUMNS = [
  'retirement_id as retirementId',
  'state',
  'attempts',
  'retirement_version as retirementVersion',
] as const;
type ListLimit = { readonly organizationId: string; readonly limit: number };
const LIST_DUE = prepared(
  ({ db }, { organizationId, at, limit }: Params<ListLimit & { readonly at: string }>) =>
    db
      .selectFrom('mirror.certificates')
      .select(DUE_COLUMNS)
      .where('organization_id', '=', organizationId)
      .where('due_at', '<=', at)
      .orderBy('due_at')
      .orderBy('version')
      .limit(limit),
);
const LIST_FAILED = prepared(({ db }, { organizationId, limit }: Params<ListLimit>) =>
  db
    .selectFrom('mirror.certificates')
    .select(DUE_COLUMNS)
    .where('organization_id', '=', organizationId)
    .where('error', 'is not', null)
    .where('state', '<>', 'stored')
    .orderBy('version')
    .limit(limit),
);

type DueTime = { readonly organizationId: string; readonly at: string };
const makeDueIf = (condition: (at: RawBuilder<string>) => RawBuilder<boolean>) =>
  prepared(({ db }, { organizationId, at }: Params<DueTime>) =>
    db
      .updateTable('mirror.certificates')
      .set({ due_at: at })
      .where('version', 'in', eb =>
        eb
          .selectFrom('mirror.certificates')
          .select('version')
          .where('organization_id', '=', organizationId)
          .where('due_at', '>', at)
          .where(condition(at))
          .limit(sql.lit(MAKE_DUE_LIMIT)),
      )
      .returning('version'),
  );
const MAKE_DUE = {
  all: makeDueIf(() => sql`true`),
  failed: makeDueIf(() => sql`${own.error} IS NOT NULL`),
  ahead: makeDueIf(at => sql`coalesce(${own.checked_at}, ${own.valid_from}) > ${at}`),
} as const;

/** The values that every update of a certificate stores after a request. */
type RequestResult = {
  readonly requestedAt: string;
  readonly dueAt: string;
  readonly retirementVersion: number;
  /** The current version of the certificate. */
  readonly currentVersion: number;
};
/**
 * Returns the columns that every update after a request sets. If the retirement has changed since the request, the due time
 * stays, so that the certificate is requested again.
 */
const setResult = ({ requestedAt, dueAt, retirementVersion }: Params<RequestResult>) => ({
  checked_at: requestedAt,
  due_at: sql<string>`CASE WHEN ${own.retirement_version} = ${retirementVersion} THEN ${dueAt} ELSE ${own.due_at} END`,
});
type StoredFileParams = RequestResult & {
  readonly version: number;
  readonly file: string;
  readonly sha256: string;
  readonly size: number;
  readonly validFrom: string;
  readonly syncId: number;
};
const STORE_FILE = prepared(({ db }, params: Params<StoredFileParams>) =>
  db
    .updateTable('mirror.certificates')
    .set({
      ...setResult(params),
      version: params.version,
      state: 'stored',
      file: params.file,
      sha256: params.sha256,
      size: params.size,
      fetched_at: params.requestedAt,
      attempts: 0,
      error: null,
      valid_from: params.validFrom,
      sync_id: params.syncId,
    })
    .where('version', '=', params.currentVersion),
);
const CONFIRM_FILE = prepared(({ db }, params: Params<RequestResult & { readonly file: string }>) =>
  db
    .updateTable('mirror.certificates')
    .set({ ...setResult(params), file: params.file, attempts: 0, error: null })
    .where('version', '=', params.currentVersion),
);
type PostponedRequest = RequestResult & { readonly state: CertificateState; readonly error: string | null };
const POSTPONE = prepared(({ db }, params: Params<PostponedRequest>) =>
  db
    .updateTable('mirror.certificates')
    .set(eb => ({
      ...setResult(params),
      state: params.state,
      attempts: eb('attempts', '+', 1),
      error: params.error,
    }))
    .where('version', '=', params.currentVersion),
);

const retirement = tableRef('mirror.retirements');
const mark = tableRef('mirror.certificate_mark');
const counter = tableRef('mirror.version_counter');
/** Locks the mark, so that transactions follow retirements one after the other. Each continues where the previous one ended. */
const LOCK_MARK = prepared(({ db }) =>
  db.selectFrom('mirror.certificate_mark').select('retirement_version').forUpdate(),
);
const READ_NEXT_RETIREMENTS = prepared(({ db }) =>
  db
    .selectFrom(
      db
        .selectFrom('mirror.retirements')
        .select('version')
        .where('version', '>', eb => eb.selectFrom('mirror.certificate_mark').select('retirement_version'))
        .orderBy('version')
        .limit(sql.lit(FOLLOW_LIMIT))
        .as('next'),
    )
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      fn.max<number | null>('next.version').as('last'),
    ]),
);
type NextRetirements = { readonly count: number; readonly last: number; readonly at: string };
/** Creates certificates for the retirements whose version is above the mark, or makes existing certificates due again. */
const FOLLOW_RETIREMENTS = prepared(({ fn }, { count, last, at }: Params<NextRetirements>) => {
  const stored = tableRef('mirror.certificates', 'certificates');
  const excluded = tableRef('mirror.certificates', 'excluded');
  const insert = insertFrom(
    'mirror.certificates',
    {
      version: sql<number>`(SELECT ${counter.last} FROM ${counter()}) - ${fn.cast('int', count)} + row_number() OVER (ORDER BY ${retirement.version})`,
      organization_id: retirement.organization_id,
      retirement_id: retirement.id,
      state: sql.lit('pending'),
      due_at: fn.cast('instant', at),
      retirement_version: retirement.version,
      valid_from: fn.cast('instant', at),
    },
    sql`FROM ${retirement()} WHERE ${retirement.version} > (SELECT ${mark.retirement_version} FROM ${mark()})
      AND ${retirement.version} <= ${last}`,
  );
  return sqlStatement`${insert} ON CONFLICT (${own.organization_id}, ${own.retirement_id}) DO UPDATE SET
    ${own.due_at} = ${fn.least(stored.due_at, excluded.due_at)},
    ${own.retirement_version} = ${excluded.retirement_version}, ${own.attempts} = 0`;
});
const MOVE_MARK = prepared(({ db }, { last }: Params<{ readonly last: number }>) =>
  db.updateTable('mirror.certificate_mark').set({ retirement_version: last }),
);

/**
 * Creates the methods of `MirrorPort` that store certificates. If a purge removes the file of a certificate between its download and
 * `writeCertificates`, the certificate stays due, so it is downloaded again.
 */
export function createCertificates(
  { read, transact }: Database,
  files: CertificateFiles,
): Pick<MirrorPort, 'makeCertificatesDue' | 'listDueCertificates' | 'writeCertificates'> {
  const versions = getVersionStatements(CERTIFICATES);

  /**
   * Makes the certificates of new or changed retirements due for download. Creates a certificate row for a retirement that has none.
   * Handles the next `FOLLOW_LIMIT` retirements at most, and returns the number of handled retirements.
   */
  async function makeNewCertificatesDue(batch: RunBatch, at: string): Promise<number> {
    const [, [next]] = await batch(LOCK_MARK(), READ_NEXT_RETIREMENTS());
    const { count, last } = next ?? { count: 0, last: null };
    if (last !== null) {
      await batch(
        buildVersionReservation(count),
        FOLLOW_RETIREMENTS({ count, last, at }),
        MOVE_MARK({ last }),
      );
    }
    return count;
  }

  return {
    makeCertificatesDue: (due, now) =>
      transact(async batch => {
        const at = formatInstant(now);
        if (due === 'new') return await makeNewCertificatesDue(batch, at);
        const { organizationId, filter } = due;
        return (await batch(MAKE_DUE[filter]({ organizationId, at })))[0].length;
      }),
    listDueCertificates: async (organizationId, at, limit) =>
      (
        await read(
          at === null
            ? LIST_FAILED({ organizationId, limit })
            : LIST_DUE({ organizationId, at: formatInstant(at), limit }),
        )
      )[0],
    writeCertificates: (sync, answers) =>
      transact(async batch => {
        const { organizationId } = sync.request;
        const ids = retirementIds.toTable(answers.map(({ retirementId: id }) => ({ id })));
        const keys = answers.map(({ retirementId }) => [organizationId, retirementId]);
        const reads = {
          certificates: LIST_BY_RETIREMENT({ organizationId, ids }),
          lastEnds: versions.selectLastEnds(keys),
        };
        const { commit, rows: found } = await beginCommit(
          batch,
          { sync, versionCount: answers.length },
          reads,
        );
        const { id: syncId, firstVersion, clock } = commit;
        const downloaded = answers.flatMap(({ result }) =>
          result.kind === 'file' ? [result.file.file] : [],
        );
        const storedFiles = await files.findStored(batch, downloaded);
        const certificates = new Map(found.certificates.map(row => [row.retirement_id, row]));
        const endedAt = new Map(found.lastEnds.map(row => [row['retirement_id'], row['valid_to']]));
        const ends: VersionEnd[] = [];
        const updates: BoundStatement[] = [];

        /**
         * Plans the statements that store the result of one download, and the end of a replaced version. Returns the effect on
         * the certificate, such as `stored` or `unchanged`.
         */
        function planCertificateWrite(answer: CertificateDownload, index: number): CertificateWriteResult {
          const row = certificates.get(answer.retirementId);
          if (answer.result.kind !== 'file') {
            if (row !== undefined) updates.push(POSTPONE(planNextRequest(answer, row)));
            return 'noted';
          }
          const { file, observedAt } = answer.result;
          if (row === undefined || !storedFiles.has(file.file)) return 'gone';
          const result = toRequestResult(answer, row, RECHECK_MS);
          if (row.sha256 === file.sha256) {
            updates.push(CONFIRM_FILE({ ...result, file: file.file }));
            return 'unchanged';
          }
          const isStored = row.state === 'stored';
          const previous = isStored ? row.valid_from : endedAt.get(answer.retirementId);
          const validFrom = clock.assignInstant(observedAt, previous ?? null);
          const version = firstVersion + index;
          if (isStored)
            ends.push({ version: row.version, at: validFrom, changeNumber: version, isRemoved: false });
          updates.push(STORE_FILE({ ...file, ...result, validFrom, syncId, version }));
          return isStored ? 'replaced' : 'stored';
        }

        const written = answers.map(planCertificateWrite);
        const countKind = (kind: CertificateWriteResult) => written.filter(each => each === kind).length;
        const counts = {
          added: countKind('stored'),
          changed: countKind('replaced'),
          unchanged: countKind('unchanged'),
        };
        const { statements, result } = buildCommitEnd(commit, counts);
        const archived = ends.length === 0 ? null : versions.copyToPast(ends, syncId);
        await batch(archived, ...updates, ...statements);
        return { ...result, written };
      }),
  };
}

/**
 * Plans the next request for a certificate after a request that returned no file. If the registry has no certificate, the wait
 * doubles from one day up to 30. If the request failed, the wait doubles from five minutes up to a day.
 */
function planNextRequest(answer: CertificateDownload, stored: StoredCertificate): PostponedRequest {
  if (answer.result.kind === 'fault') {
    const waitMs = Math.min(DAY_MS, FIRST_RETRY_MS * 2 ** stored.attempts);
    return { ...toRequestResult(answer, stored, waitMs), state: stored.state, error: answer.result.error };
  }
  const waitMs = Math.min(RECHECK_MS, DAY_MS * 2 ** stored.attempts);
  const isStored = stored.state === 'stored';
  const error = isStored ? 'the registry had none when it was asked again' : null;
  return { ...toRequestResult(answer, stored, waitMs), state: isStored ? 'stored' : 'unavailable', error };
}

/** Returns the values that are stored after any request for a certificate. It is due again `waitMs` after the request. */
function toRequestResult(
  { requestedAt, retirementVersion }: CertificateDownload,
  { version }: StoredCertificate,
  waitMs: number,
): RequestResult {
  return {
    requestedAt: formatInstant(requestedAt),
    dueAt: formatInstant(requestedAt + waitMs),
    retirementVersion,
    currentVersion: version,
  };
}
