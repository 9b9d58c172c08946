import type { InstallationState } from '../database/mirror-rows.js';
import { write } from '../database/open.js';
import type { Installation } from '../registry/model.js';
import type { Books } from './books.js';
import { formatInstant, instant, text } from './columns.js';
import { following } from './dates.js';
import type { Resource } from './resources.js';

export interface InstallationRead {
  readonly installation: Installation;
  readonly state: InstallationState;
  readonly claim: number;
  readonly startedAt: number;
  /** When the registry's answer had arrived. */
  readonly arrivedAt: number;
  readonly trigger: string;
}

export interface InstallationStateRead {
  readonly installationId: string;
  readonly state: InstallationState;
  readonly claim: number;
  readonly startedAt: number;
  readonly arrivedAt: number;
  readonly trigger: string;
}

export type Written = 'added' | 'changed' | 'unchanged';

/** The rows of installations. An organization none of whose installations is active is frozen: reads are refused. */
export interface Installations {
  readonly put: (read: InstallationRead) => Written;
  /** For an installation that the registry does not show any more; unchanged where it was never seen. */
  readonly putState: (read: InstallationStateRead) => Written;
}

interface Row {
  version: number;
  id: string;
  organization_id: string | null;
  app_id: string | null;
  state: string;
  permissions: string;
  created_at: string | null;
  updated_at: string | null;
  valid_from: string;
  document: string;
}

const NAMES =
  'version, id, organization_id, app_id, state, permissions, created_at, updated_at, valid_from, sync_run_id, document';

export function createInstallations(
  books: Books,
  resources: readonly Resource[],
  now: () => number,
): Installations {
  const { db } = books;
  const find = db.prepare<[string], Row>('SELECT * FROM installations WHERE id = ?');
  const lastEnd = db
    .prepare<[string], string | null>('SELECT max(valid_to) FROM installations_past WHERE id = ?')
    .pluck();
  const insert = db.prepare(
    `INSERT INTO installations (${NAMES}) VALUES (@version, @id, @organization_id, @app_id, @state, @permissions,
       @created_at, @updated_at, @valid_from, @sync_run_id, @document)`,
  );
  const archive = db.prepare<[string, number, number]>(
    `INSERT INTO installations_past (${NAMES}, valid_to, closed_by)
     SELECT ${NAMES}, ?, ? FROM installations WHERE version = ?`,
  );
  const remove = db.prepare<[number]>('DELETE FROM installations WHERE version = ?');

  type Fields = Omit<Row, 'version' | 'valid_from'>;

  function put(fields: Fields, read: Omit<InstallationStateRead, 'installationId' | 'state'>): Written {
    return write(db, () => {
      const organizationId = fields.organization_id;
      if (organizationId !== null) {
        books.fence.hold({ organizationId, lane: 'data', claim: read.claim });
        books.prepareStates(organizationId, resources);
      }
      const stored = find.get(fields.id);
      if (stored !== undefined && isSame(stored, fields)) return 'unchanged';
      enter(fields, stored, read);
      return stored === undefined ? 'added' : 'changed';
    });
  }

  function enter(
    fields: Fields,
    stored: Row | undefined,
    { claim, startedAt, arrivedAt, trigger }: Omit<InstallationStateRead, 'installationId' | 'state'>,
  ): void {
    const before = stored?.valid_from ?? lastEnd.get(fields.id) ?? null;
    const at = following(formatInstant(arrivedAt), before);
    const run = books.enterSmallRun({
      organization_id: fields.organization_id,
      resource: 'installation',
      trigger,
      claim,
      started_at: formatInstant(startedAt),
      finished_at: formatInstant(now()),
      rows_added: stored === undefined ? 1 : 0,
      rows_changed: stored === undefined ? 0 : 1,
    });
    if (stored !== undefined) {
      archive.run(at, run, stored.version);
      remove.run(stored.version);
    }
    insert.run({ ...fields, version: books.versions(1), valid_from: at, sync_run_id: run });
  }

  return {
    put: ({ installation, state, ...read }) => put({ ...fieldsOf(installation), state }, read),
    putState: ({ installationId, state, ...read }) => {
      const stored = find.get(installationId);
      return stored === undefined ? 'unchanged' : put({ ...stored, state }, read);
    },
  };
}

export function fieldsOf(installation: Installation) {
  return {
    id: installation.id,
    organization_id: installation.organizationId ?? installation.organization?.id ?? null,
    app_id: text(installation.appId),
    permissions: JSON.stringify(installation.permissions),
    created_at: instant(installation.createdAt),
    updated_at: instant(installation.updatedAt),
    document: installation.document,
  };
}

/** Permissions may come from elsewhere than the document. */
function isSame(stored: Row, fields: Pick<Row, 'state' | 'permissions' | 'document'>): boolean {
  return (
    stored.state === fields.state &&
    stored.permissions === fields.permissions &&
    stored.document === fields.document
  );
}
