import { type ClaimedJob, readPayload } from '../inbox/job.js';
import type { Tables } from './contract/tables.js';

/** What a row of a job says to whoever has claimed it. */
export function claimedJob(row: Tables['inbox.jobs']): ClaimedJob {
  return {
    id: row.id,
    claim: row.claim ?? 0,
    kind: row.kind,
    organizationId: row.organization_id,
    installationId: row.installation_id,
    part: row.part,
    dedupeKey: row.dedupe_key,
    trigger: row.trigger,
    onlyDuplicatesAsked: row.only_duplicates_asked === 1,
    payload: readPayload(row.payload),
    attempts: row.attempts,
    runAt: row.run_at,
    createdAt: row.created_at,
  };
}
