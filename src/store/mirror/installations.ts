import { computeVersionInstant } from '../../mirror/version-clock.js';
import type { InstallationRead, KnownInstallation, MirrorPort } from '../../mirror/port.js';
import { formatInstant } from '../../resources/sql-values.js';
import { listTableColumns } from '../../resources/entry.js';
import {
  INSTALLATIONS,
  type InstallationColumns,
  toInstallationValues,
} from '../../resources/installations.js';
import { type Database, fixed, insertion, statement } from '../statement.js';
import { assertNotFenced, raiseFence } from './fence.js';
import { ensureStates } from './states.js';
import { toCauseColumns, reserveVersions } from './syncs.js';
import { createVersionStatements, kindsOf } from './versions.js';

type Row = InstallationColumns & { readonly state: string };
interface Stored extends Row {
  readonly version: number;
  readonly valid_from: string;
}

const KNOWN = `SELECT id, organization_id AS "organizationId", state, permissions FROM mirror.installations`;
const KNOWN_ONE = statement<{ id: string }, KnownInstallation>(`${KNOWN} WHERE id = @id`);
const KNOWN_ALL = fixed<KnownInstallation>(`${KNOWN} ORDER BY id`);
const ANSWERED = statement<{ id: string }>('DELETE FROM mirror.awaited_installations WHERE id = @id');
const STORED = statement<{ id: string }, Stored>('SELECT * FROM mirror.installations WHERE id = @id');
/** A sync that wrote one row, whose number is the newest, and is over. */
const ENTER_SYNC = statement<
  {
    organizationId: string | null;
    trigger: string;
    claim: number;
    startedAt: string;
    endedAt: string;
    arrivedAt: string;
    added: number;
    changed: number;
    job_id: number | null;
    newest_delivery_id: number | null;
  },
  { readonly id: number }
>(
  `INSERT INTO mirror.syncs (organization_id, resource, trigger, claim, started_at, finished_at, state,
     rows_added, rows_changed, job_id, newest_delivery_id, last_answer_at, changes_up_to)
   VALUES (@organizationId, 'installation', @trigger, @claim, @startedAt, @endedAt, 'complete',
     @added, @changed, @job_id, @newest_delivery_id, @arrivedAt, (SELECT last FROM mirror.version_counter))
   RETURNING id`,
);
const COLUMNS = listTableColumns(INSTALLATIONS);
/** The row itself is changed, never replaced: who waits for it sees what it has become. */
const PUT = insertion(
  'mirror.installations',
  kindsOf('installations', COLUMNS),
  `ON CONFLICT (id) DO UPDATE SET ${COLUMNS.map(name => `${name} = excluded.${name}`).join(', ')}`,
);

/** An organization none of whose installations is active is frozen: reads are refused. */
export function createInstallations({
  look,
  transact,
}: Database): Pick<MirrorPort, 'listInstallations' | 'writeInstallation'> {
  const versions = createVersionStatements(INSTALLATIONS);
  return {
    listInstallations: async id => (await look(id === undefined ? KNOWN_ALL : KNOWN_ONE({ id })))[0],
    writeInstallation: (id, fields, read) =>
      transact(async batch => {
        const [, [first]] = await batch(ANSWERED({ id }), STORED({ id }));
        const organizationId = (fields ?? first)?.organization_id ?? null;
        if (organizationId !== null) {
          const task = { organizationId, part: 'data', claim: read.claim };
          const [, seen] = await batch(...raiseFence(task), ensureStates(organizationId, read.resources));
          assertNotFenced(seen, task);
        }
        const [[stored], [past]] = await batch(STORED({ id }), versions.selectLastEnds([[id]]));
        const known = fields ?? stored;
        if (known === undefined) return 'unchanged';
        const row = { ...known, state: read.state };
        if (stored !== undefined && isSame(stored, row)) {
          const [, ...cells] = toInstallationValues({
            ...row,
            organization_id: organizationId ?? stored.organization_id,
          });
          await batch(versions.repair([{ version: stored.version, cells }]));
          return 'unchanged';
        }
        const [[last], [sync]] = await batch(
          reserveVersions(1),
          ENTER_SYNC(syncOf(organizationId, read, stored === undefined)),
        );
        const number = last?.last ?? 0;
        const syncId = sync?.id ?? 0;
        const at = computeVersionInstant(
          formatInstant(read.arrivedAt),
          stored?.valid_from ?? past?.['valid_to'] ?? null,
        );
        const closing = stored && { version: stored.version, at, changeNumber: number, isRemoved: false };
        await batch(
          closing === undefined ? null : versions.copyToPast([closing], syncId),
          PUT([[number, ...toInstallationValues(row), at, syncId, row.document]]),
        );
        return stored === undefined ? 'added' : 'changed';
      }),
  };
}

function syncOf(organizationId: string | null, read: InstallationRead, isNew: boolean) {
  return {
    organizationId,
    trigger: read.trigger,
    claim: read.claim,
    startedAt: formatInstant(read.startedAt),
    arrivedAt: formatInstant(read.arrivedAt),
    endedAt: formatInstant(read.endedAt),
    added: Number(isNew),
    changed: Number(!isNew),
    ...toCauseColumns(read.cause),
  };
}

/** Permissions may come from elsewhere than the document. */
function isSame(stored: Row, row: Row): boolean {
  return (
    stored.state === row.state && stored.permissions === row.permissions && stored.document === row.document
  );
}
