import type { Tables } from '../../contract/tables.js';
import type { Resource } from '../../../resources/lists.js';
import { type EndingColumns, OPENING, type OpeningRow } from '../../resource-state.js';
import type { Sqlite } from '../open.js';

type State = Tables['resource_states'];

/** What is known of one resource, and by which claim and read. */
interface KnownState extends OpeningRow, Pick<State, 'read_claim' | 'read_at'> {}

interface Whose {
  organization_id: string;
  resource: Resource;
}

type Written = Whose & Pick<State, 'rows' | 'open_sync' | 'stamp_at' | 'read_claim' | 'read_at'>;
type Ended = Written &
  EndingColumns &
  Pick<State, 'complete_at' | 'attempted_at' | 'outcome' | 'drift' | 'drift_at'> & {
    /** From when on the whole list is known; null where this read was not complete. */
    readonly whole_at: string | null;
  };

const WHOSE = 'organization_id = @organization_id AND resource = @resource';

export type StateRows = ReturnType<typeof createStateRows>;

/** The statements behind resource_states. */
export function createStateRows(db: Sqlite) {
  const state = db.prepare<[string, string], KnownState>(
    `SELECT ${OPENING}, read_claim, read_at FROM resource_states WHERE organization_id = ? AND resource = ?`,
  );
  const prepare = db.prepare(
    'INSERT INTO resource_states (organization_id, resource) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const written = db.prepare(
    `UPDATE resource_states SET rows = rows + @rows, open_sync = @open_sync,
       stamp_at = coalesce(@stamp_at, stamp_at),
       read_claim = @read_claim, read_at = @read_at
     WHERE ${WHOSE}`,
  );
  const ended = db.prepare(
    `UPDATE resource_states SET rows = rows + @rows, complete_at = coalesce(@complete_at, complete_at),
       first_complete_at = coalesce(first_complete_at, @whole_at),
       attempted_at = @attempted_at, outcome = @outcome, error_code = @error_code, error = @error,
       forbidden_at = iif(@outcome = 'failed', forbidden_at, NULL),
       not_offered_at = iif(@outcome = 'failed', not_offered_at, NULL),
       refusals = iif(@outcome = 'failed', refusals, 0), open_sync = @open_sync,
       drift = drift + @drift, drift_at = coalesce(@drift_at, drift_at),
       answer_status = coalesce(@answer_status, answer_status), answer_form = coalesce(@answer_form, answer_form),
       answer_text = iif(@answered_at IS NULL, answer_text, @answer_text),
       answered_at = coalesce(@answered_at, answered_at),
       page_size = iif(@is_sized, @page_size, page_size),
       every_seconds = iif(@is_paced, @every_seconds, every_seconds), requests = coalesce(@calls, requests),
       owner_named = coalesce(@owner_named, owner_named),
       duration_ms = coalesce(@duration_ms, duration_ms), stamp_at = coalesce(@stamp_at, stamp_at),
       read_claim = coalesce(@read_claim, read_claim), read_at = coalesce(@read_at, read_at)
     WHERE ${WHOSE}`,
  );
  const doubt = db.prepare(
    `UPDATE resource_states SET doubted_at = @doubted_at, doubted = @doubted WHERE ${WHOSE}`,
  );
  return {
    state: (organizationId: string, resource: Resource): KnownState | undefined =>
      state.get(organizationId, resource),
    prepareStates: (organizationId: string, resources: readonly Resource[]): void => {
      for (const resource of resources) prepare.run(organizationId, resource);
    },
    written: (row: Written): void => void written.run(row),
    ended: (row: Ended): void => void ended.run(row),
    doubt: (row: Whose & { doubted_at: string | null; doubted: Uint8Array | null }): void =>
      void doubt.run(row),
  };
}
