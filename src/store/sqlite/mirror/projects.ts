import { write } from '../open.js';
import { formatInstant } from '../../../resources/columns.js';
import type { ProjectAnswer, ProjectWritten } from '../../../mirror/port.js';
import { PROJECTS } from '../../../resources/projects.js';
import type { MirrorOperations } from './operations.js';
import type { SyncRows } from './sync-rows.js';
import { countWritten, type EnteredSync, type Syncs } from './syncs.js';
import { createVersions } from './versions.js';

const WRITTEN = { added: 'added', changed: 'changed', unchanged: 'unchanged' } as const;

export function createProjects(syncRows: SyncRows, syncs: Syncs): Pick<MirrorOperations, 'writeProjects'> {
  const { db } = syncRows;
  const versions = createVersions(db, PROJECTS);
  const checked = db
    .prepare<[string], string>('SELECT checked_at FROM project_states WHERE project_id = ?')
    .pluck();
  const check = db.prepare<[string, string, string, string | null]>(
    `INSERT INTO project_states VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET state = excluded.state, checked_at = excluded.checked_at, error = excluded.error`,
  );

  /** What was looked at after now was looked at by a clock that has been put right. */
  function isOlder({ id, askedAt }: ProjectAnswer, at: number): boolean {
    const checkedAt = checked.get(id) ?? '';
    return checkedAt > formatInstant(askedAt) && checkedAt <= formatInstant(at);
  }

  function writeOne(answer: ProjectAnswer, { id, dates }: EnteredSync): ProjectWritten {
    const askedAt = formatInstant(answer.askedAt);
    if ('error' in answer) {
      check.run(answer.id, 'unavailable', askedAt, answer.error);
      return 'unavailable';
    }
    check.run(answer.id, 'readable', askedAt, null);
    const stored = versions.current(answer.id);
    if (stored?.document === answer.document) {
      versions.mend(stored.version, answer.cells);
      return 'unchanged';
    }
    const at = dates.give(answer.observedAt, stored?.valid_from ?? versions.lastEnd(answer.id));
    const number = syncRows.versions(1);
    if (stored !== undefined) versions.close(stored.version, { at, syncId: id, number, isRemoved: false });
    versions.insert.run(number, answer.id, ...answer.cells, at, id, answer.document);
    return stored === undefined ? 'added' : 'changed';
  }

  return {
    writeProjects: (sync, answers, at) =>
      write(db, () => {
        const entered = syncs.enter(sync);
        const written = answers.map(answer => (isOlder(answer, at) ? 'older' : writeOne(answer, entered)));
        return { ...syncs.leave(entered, countWritten(written, WRITTEN), null), written };
      }),
  };
}
