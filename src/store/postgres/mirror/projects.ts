import type { MirrorPort, OpenSync, ProjectAnswer, ProjectWritten } from '../../../mirror/port.js';
import { formatInstant } from '../../../resources/columns.js';
import { columnsOf } from '../../../resources/entry.js';
import { PROJECTS } from '../../../resources/projects.js';
import { NUMBER } from './fence.js';
import { given, known, SYNC } from './perform.js';
import type { Syncs } from './syncs.js';
import { archived, cellsByName, names, typedColumns } from './versions.js';

const VALUES: Readonly<Record<string, string>> = {
  version: `${known('first', 'bigint')} + d.n`,
  valid_from: 'd.at',
  sync_id: SYNC,
};
const NEW_ROW = columnsOf(PROJECTS)
  .map(name => VALUES[name] ?? `d.${name}`)
  .join(', ');

const OWN = PROJECTS.columns.map(({ name }) => name);

/** All organizations share the rows: looked at under the lock that numbers them. */
const WRITE = `
  WITH given AS (
    SELECT r.*, coalesce(s.checked_at > asked_at AND s.checked_at <= ${given('at', 'timestamptz')}, false) AS is_older,
      p.version AS stored, p.document AS before, p.valid_from AS since
    FROM json_to_recordset($3) AS r (n bigint, asked_at timestamptz, observed_at timestamptz, unavailable text,
      document text, ${typedColumns(PROJECTS)})
    LEFT JOIN mirror.project_states AS s ON s.project_id = r.id
    LEFT JOIN mirror.projects AS p ON p.id = r.id
  ),
  checked AS (
    INSERT INTO mirror.project_states (project_id, state, checked_at, error)
    SELECT id, CASE WHEN unavailable IS NULL THEN 'readable' ELSE 'unavailable' END, asked_at, unavailable
    FROM given WHERE NOT is_older
    ON CONFLICT (project_id) DO UPDATE SET state = excluded.state, checked_at = excluded.checked_at, error = excluded.error
  ),
  dated AS (
    SELECT *, greatest(observed_at, interval '1 millisecond' + CASE WHEN stored IS NOT NULL THEN since
      ELSE (SELECT max(valid_to) FROM mirror.projects_history AS p WHERE p.id = g.id) END) AS at
    FROM given AS g WHERE NOT is_older AND unavailable IS NULL AND before IS DISTINCT FROM document
  ),
  moved AS (
    DELETE FROM mirror.projects AS t USING dated AS d WHERE t.version = d.stored RETURNING t.*, d.at, d.n
  ),
  archived AS (
    ${archived(PROJECTS, { at: 'v.at', number: `${known('first', 'bigint')} + v.n` }, 'FROM moved AS v')}
  ),
  entered AS (
    INSERT INTO mirror.projects (${names(PROJECTS)})
    SELECT ${NEW_ROW} FROM dated AS d CROSS JOIN (SELECT count(*) FROM moved) AS gone
  ),
  mended AS (
    UPDATE mirror.projects AS p SET ${OWN.map(name => `${name} = g.${name}`).join(', ')} FROM given AS g
    WHERE p.version = g.stored AND NOT is_older AND before = g.document
      AND (${OWN.map(name => `p.${name}`).join(', ')}) IS DISTINCT FROM (${OWN.map(name => `g.${name}`).join(', ')})
  ),
  judged AS (
    SELECT n, CASE WHEN is_older THEN 'older' WHEN unavailable IS NOT NULL THEN 'unavailable'
      WHEN before IS NOT DISTINCT FROM document THEN 'unchanged' WHEN stored IS NULL THEN 'added' ELSE 'changed' END AS word
    FROM given
  )
  SELECT jsonb_build_object('written', coalesce(jsonb_agg(word ORDER BY n), '[]'),
    'added', count(*) FILTER (WHERE word = 'added'), 'changed', count(*) FILTER (WHERE word = 'changed'),
    'unchanged', count(*) FILTER (WHERE word = 'unchanged'), 'latest', (SELECT max(at) FROM dated))
  FROM judged`;

export function createProjects(syncs: Syncs): Pick<MirrorPort, 'writeProjects'> {
  return {
    writeProjects: async (sync: OpenSync, answers, at) => {
      const work = {
        statements: [NUMBER, WRITE],
        given: { wanted: answers.length, at: formatInstant(at) },
        rows: answers.map(rowOf),
      };
      const { answer, ...done } = await syncs.commit<{ written: ProjectWritten[] }>(sync, work, null);
      return { ...done, written: answer.written };
    },
  };
}

function rowOf(answer: ProjectAnswer, n: number) {
  const asked = { n, asked_at: formatInstant(answer.askedAt) };
  if ('error' in answer) return { ...asked, id: answer.id, unavailable: answer.error };
  const { id, cells, observedAt, document } = answer;
  return { ...asked, observed_at: observedAt, document, ...cellsByName(PROJECTS, [id], cells) };
}
