import { sql } from 'kysely';
import { tableRef, select, sqlStatement } from '../sql/columns.js';
import { createLaw, dayAfter, describeRow, type Law } from './law.js';

const certificate = tableRef('mirror.certificates');
const c = tableRef('mirror.certificates', 'c');
const r = tableRef('mirror.retirements', 'r');
const version = tableRef('mirror.certificates_history');
const certificateSum = tableRef('mirror.certificate_sums');
const mark = tableRef('mirror.certificate_mark');

const nameOfCertificate = describeRow(c.organization_id, c.retirement_id);
const nameOfVersion = describeRow(version.organization_id, version.retirement_id);

export const CERTIFICATE_LAWS: readonly Law[] = [
  createLaw('the counts in certificate_sums match the rows of certificates', () => {
    const counted = sql`SELECT ${certificate.organization_id}, ${certificate.state}, count(*) FROM ${certificate()}
      GROUP BY ${certificate.organization_id}, ${certificate.state}`;
    const stored = sql`SELECT ${certificateSum.organization_id}, ${certificateSum.state}, ${certificateSum.certificates}
      FROM ${certificateSum()} WHERE ${certificateSum.certificates} <> 0`;
    const violation = describeRow(certificate.organization_id, certificate.state);
    return sqlStatement`SELECT DISTINCT ${select({ violation })} FROM (
      SELECT * FROM (${counted} EXCEPT ${stored}) AS counted UNION ALL SELECT * FROM (${stored} EXCEPT ${counted}) AS stored) AS differences`;
  }),
  createLaw(
    'each certificate belongs to an existing retirement',
    () => sqlStatement`SELECT ${select({ violation: nameOfCertificate })} FROM ${c()} WHERE NOT EXISTS (
      SELECT 1 FROM ${r()} WHERE ${r.organization_id} = ${c.organization_id} AND ${r.id} = ${c.retirement_id})`,
  ),
  createLaw(
    'each retirement up to certificate_mark has a row in certificates',
    () => sqlStatement`SELECT ${select({ violation: describeRow(r.organization_id, r.id) })} FROM ${r()}
      WHERE ${r.version} <= (SELECT ${mark.retirement_version} FROM ${mark()}) AND NOT EXISTS (
        SELECT 1 FROM ${c()} WHERE ${c.organization_id} = ${r.organization_id} AND ${c.retirement_id} = ${r.id})`,
  ),
  createLaw('retirement_version of each certificate is a version of its own retirement', () => {
    const past = tableRef('mirror.retirements_history', 'r');
    return sqlStatement`SELECT ${select({ violation: nameOfCertificate })} FROM ${c()} WHERE NOT EXISTS (
      SELECT 1 FROM ${past()} WHERE ${past.version} = ${c.retirement_version}
        AND ${past.organization_id} = ${c.organization_id} AND ${past.id} = ${c.retirement_id})`;
  }),
  createLaw('each certificate file is named after its retirement and its hash', () => {
    const { file, retirement_id: retirementId, sha256 } = version;
    return sqlStatement`SELECT ${select({ violation: nameOfVersion })} FROM ${version()}
      WHERE ${file} IS NOT NULL AND ${file} NOT IN (
        ${retirementId} || '-' || ${sha256} || '.pdf', ${retirementId} || '-' || substr(${sha256}, 1, 12) || '.pdf')`;
  }),
  createLaw(
    'a certificate is stored if and only if it names the sync that downloaded it',
    () => sqlStatement`SELECT ${select({ violation: nameOfCertificate })} FROM ${c()}
      WHERE (${c.state} = 'stored') <> (${c.sync_id} IS NOT NULL)`,
  ),
  createLaw(
    'fetched_at of each certificate is not after checked_at, and neither is in the future',
    ({ db, fn }, { soon }) =>
      db
        .selectFrom('mirror.certificates_history')
        .select(nameOfVersion.as('violation'))
        .where(eb =>
          eb.or([
            eb('fetched_at', '>', dayAfter(fn, version.checked_at)),
            eb('fetched_at', '>', soon),
            eb('checked_at', '>', soon),
          ]),
        ),
  ),
];
