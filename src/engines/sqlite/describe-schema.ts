import type { ColumnDescription, Relation } from '../contract/relation.js';
import { type Family, migrationsOf } from '../migrations.js';

/** The tables and views of both databases, in the words of the migrations' own comments. */
export function describeSchema(): Relation[] {
  return (['mirror', 'inbox'] as const).flatMap(database =>
    migrationsOf('sqlite', database).flatMap(({ sql }) => parseRelations(database, sql)),
  );
}

const HEAD = /^CREATE (TABLE|VIEW) (?:IF NOT EXISTS )?(\w+)/;
const COLUMN = /^ {2}([a-z_][a-z0-9_]*)(?: ([A-Z]+))?\b.*?-- (.+)$/;

function parseRelations(database: Family, sql: string): Relation[] {
  const relations: Relation[] = [];
  let comment: string[] = [];
  let open: { kind: Relation['kind']; name: string; meaning: string; columns: ColumnDescription[] } | null =
    null;
  for (const line of sql.split('\n')) {
    if (line.startsWith('-- ')) {
      comment.push(line.slice(3));
      continue;
    }
    const head = HEAD.exec(line);
    const column = COLUMN.exec(line);
    if (head !== null) {
      const kind = head[1] === 'VIEW' ? 'view' : 'table';
      open = { kind, name: head[2] ?? '', meaning: comment.join(' '), columns: [] };
    } else if (open !== null && column !== null) {
      open.columns.push({ name: column[1] ?? '', type: column[2] ?? '', meaning: column[3] ?? '' });
    } else if (open !== null && line.startsWith(')')) {
      relations.push({ database, ...open });
      open = null;
    }
    comment = [];
  }
  return relations;
}
