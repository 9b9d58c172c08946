import type {
  CertificateAnswer,
  CertificateWritten,
  DueCertificate,
  MirrorPort,
} from '../../../mirror/port.js';
import { CERTIFICATES } from '../../../resources/certificates.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Postgres } from '../open.js';
import { NUMBER } from './fence.js';
import { given, known, type Perform, SYNC } from './perform.js';
import type { Syncs } from './syncs.js';
import { archived } from './versions.js';

const ENTER_AT_ONCE = 250;
const DUE_AT_ONCE = 500;

/** How long to wait for the next question: found, a month; none, a day and up to a month; a fault, minutes and up to a day. */
const WAIT = `CASE
  WHEN word IN ('stored', 'replaced', 'unchanged') THEN interval '30 days'
  WHEN kind = 'none' THEN least(interval '30 days', interval '1 day' * 2 ^ least(attempts, 10))
  ELSE least(interval '1 day', interval '5 minutes' * 2 ^ least(attempts, 10)) END`;

const REPLACED =
  "FROM mirror.certificates AS v JOIN dated AS d ON d.known = v.version WHERE d.word = 'replaced'";

const WRITE = `
  WITH given AS (
    SELECT r.*, c.version AS known, c.state AS before, c.sha256 AS stored, c.attempts, c.valid_from AS since
    FROM json_to_recordset($3) AS r (n bigint, retirement_id text, asked_at timestamptz, retirement_version bigint,
      kind text, file text, sha256 text, size bigint, observed_at timestamptz, error text)
    LEFT JOIN mirror.certificates AS c
      ON c.organization_id = ${given('organization_id')} AND c.retirement_id = r.retirement_id
  ),
  judged AS (
    SELECT *, CASE
      WHEN kind <> 'file' THEN 'noted'
      WHEN known IS NULL OR NOT EXISTS (SELECT 1 FROM mirror.certificate_pieces AS p WHERE p.file = given.file) THEN 'gone'
      WHEN stored = sha256 THEN 'unchanged'
      WHEN before = 'stored' THEN 'replaced'
      ELSE 'stored' END AS word
    FROM given
  ),
  dated AS (
    SELECT *, ${WAIT} AS wait, greatest(observed_at, interval '1 millisecond' + CASE before WHEN 'stored' THEN since ELSE (
      SELECT max(valid_to) FROM mirror.certificates_history AS p
      WHERE p.organization_id = ${given('organization_id')} AND p.retirement_id = j.retirement_id) END) AS at
    FROM judged AS j WHERE known IS NOT NULL AND word <> 'gone'
  ),
  archived AS (
    ${archived(CERTIFICATES, { at: 'd.at', number: `${known('first', 'bigint')} + d.n` }, REPLACED)}
  ),
  written AS (
    UPDATE mirror.certificates AS c SET
      version = CASE WHEN is_new THEN ${known('first', 'bigint')} + d.n ELSE c.version END,
      state = CASE WHEN is_new THEN 'stored' WHEN kind = 'none' AND c.state <> 'stored' THEN 'unavailable' ELSE c.state END,
      file = CASE WHEN kind = 'file' THEN d.file ELSE c.file END,
      sha256 = CASE WHEN is_new THEN d.sha256 ELSE c.sha256 END,
      size = CASE WHEN is_new THEN d.size ELSE c.size END,
      fetched_at = CASE WHEN is_new THEN d.asked_at ELSE c.fetched_at END,
      checked_at = d.asked_at,
      due_at = CASE WHEN c.retirement_version = d.retirement_version THEN d.asked_at + d.wait ELSE c.due_at END,
      attempts = CASE WHEN kind = 'file' THEN 0 ELSE c.attempts + 1 END,
      error = CASE WHEN kind = 'fault' THEN d.error
        WHEN kind = 'none' AND c.state = 'stored' THEN 'the registry had none when it was asked again' END,
      valid_from = CASE WHEN is_new THEN d.at ELSE c.valid_from END,
      sync_id = CASE WHEN is_new THEN ${SYNC} ELSE c.sync_id END
    FROM (SELECT *, word IN ('stored', 'replaced') AS is_new FROM dated) AS d
    WHERE c.version = d.known
  )
  SELECT jsonb_build_object('written', coalesce(jsonb_agg(word ORDER BY n), '[]'),
    'added', count(*) FILTER (WHERE word = 'stored'), 'changed', count(*) FILTER (WHERE word = 'replaced'),
    'unchanged', count(*) FILTER (WHERE word = 'unchanged'),
    'latest', (SELECT max(at) FROM dated WHERE word IN ('stored', 'replaced')))
  FROM judged`;

/** One after the other: what the next one enters begins where this one has ended. */
const HOLD_MARK = `SELECT '{}'::jsonb FROM mirror.certificate_mark FOR UPDATE`;

const BEHIND = `
  SELECT jsonb_build_object('count', count(*), 'last', max(version)) FROM (
    SELECT version FROM mirror.retirements
    WHERE version > (SELECT retirement_version FROM mirror.certificate_mark) ORDER BY version LIMIT ${ENTER_AT_ONCE}
  ) AS behind`;

const NUMBER_BEHIND = `
  UPDATE mirror.version_counter SET last = last + ${known('count', 'bigint')} WHERE ${known('count', 'bigint')} > 0
  RETURNING jsonb_build_object('first', last - ${known('count', 'bigint')} + 1)`;

/** Certificates follow their retirements by version: a new version of a retirement is beyond the mark. */
const ENTER = `
  INSERT INTO mirror.certificates AS c
    (version, organization_id, retirement_id, state, due_at, retirement_version, valid_from)
  SELECT ${known('first', 'bigint')} + row_number() OVER (ORDER BY version) - 1, organization_id, id, 'pending',
    ${given('at', 'timestamptz')}, version, ${given('at', 'timestamptz')}
  FROM mirror.retirements
  WHERE version > (SELECT retirement_version FROM mirror.certificate_mark) AND version <= ${known('last', 'bigint')}
  ON CONFLICT (organization_id, retirement_id) DO UPDATE SET due_at = least(c.due_at, excluded.due_at),
    retirement_version = excluded.retirement_version, attempts = 0
  RETURNING '{}'::jsonb`;

const MOVE_MARK = `
  UPDATE mirror.certificate_mark SET retirement_version = ${known('last', 'bigint')}
  WHERE ${known('count', 'bigint')} > 0 RETURNING '{}'::jsonb`;

type CertificateOperations = Pick<
  MirrorPort,
  'enterCertificates' | 'makeCertificatesDue' | 'dueCertificates' | 'writeCertificates'
>;

/** A file may have been removed by a purge since it was stored: then its certificate is due as it was. */
export function createCertificates(
  { query }: Postgres,
  perform: Perform,
  syncs: Syncs,
): CertificateOperations {
  return {
    enterCertificates: async at => {
      const { count } = await perform<{ count: number }>(
        [HOLD_MARK, BEHIND, NUMBER_BEHIND, ENTER, MOVE_MARK],
        { at: formatInstant(at) },
      );
      return count;
    },
    makeCertificatesDue: async (organizationId, which, at) => {
      const rows = await query(
        `UPDATE mirror.certificates SET due_at = $2 WHERE version IN (
           SELECT version FROM mirror.certificates
           WHERE organization_id = $1 AND due_at > $2 AND ($3 = 'all' OR checked_at > $2) LIMIT ${DUE_AT_ONCE})
         RETURNING 1`,
        [organizationId, formatInstant(at), which],
      );
      return rows.length;
    },
    dueCertificates: (organizationId, at, limit) =>
      query<DueCertificate>(
        `SELECT retirement_id AS "retirementId", state, attempts, retirement_version AS "retirementVersion"
         FROM mirror.certificates WHERE organization_id = $1 AND due_at <= $2 ORDER BY due_at, version LIMIT $3`,
        [organizationId, formatInstant(at), limit],
      ),
    writeCertificates: async (sync, answers) => {
      const work = {
        statements: [NUMBER, WRITE],
        given: { wanted: answers.length },
        rows: answers.map(rowOf),
      };
      const { answer, ...done } = await syncs.commit<{ written: CertificateWritten[] }>(sync, work, null);
      return { ...done, written: answer.written };
    },
  };
}

function rowOf(answer: CertificateAnswer, n: number) {
  const { retirementId, askedAt, retirementVersion, came } = answer;
  return {
    n,
    retirement_id: retirementId,
    asked_at: formatInstant(askedAt),
    retirement_version: retirementVersion,
    kind: came.kind,
    ...(came.kind === 'file' && { ...came.file, observed_at: came.observedAt }),
    ...(came.kind === 'fault' && { error: came.error }),
  };
}
