import type { ColumnDescription, Relation } from '../contract/relation.js';
import type { Family } from '../migrations.js';
import { readMigrations } from './migrate.js';

/** The tables and views of both databases, in the words of the migrations' own comments. */
export function describeSchema(): Relation[] {
  return (['mirror', 'inbox'] as const).flatMap(database => {
    const relations = new Map<string, Relation>();
    for (const { sql } of readMigrations(database)) {
      const meanings = new Map(Array.from(sql.matchAll(AMENDMENT), ([, was = '', now = '']) => [was, now]));
      const added = Array.from(sql.matchAll(ADDED_COLUMN), describeAdded);
      for (const relation of relations.values())
        relations.set(relation.name, amend(relation, meanings, added));
      for (const relation of parseRelations(database, sql)) relations.set(relation.name, relation);
    }
    return [...relations.values()];
  });
}

/** A later migration may say what tables and columns of earlier ones mean from then on, and add columns. */
const AMENDMENT = /^-- WAS (.+)\n-- NOW (.+)$/gm;
const ADDED_COLUMN = /^ALTER TABLE (\w+) ADD COLUMN (\w+) ([A-Z]+)\b.*; -- (.+)$/gm;

const HEAD = /^CREATE (TABLE|VIEW) (?:IF NOT EXISTS )?(\w+)/;
const COLUMN = /^ {2}([a-z_][a-z0-9_]*)(?: ([A-Z]+))?\b.*?-- (.+)$/;

interface AddedColumn extends ColumnDescription {
  readonly table: string;
}

function describeAdded([, table = '', name = '', type = '', meaning = '']: RegExpExecArray): AddedColumn {
  return { table, name, type, meaning };
}

function amend(
  relation: Relation,
  meanings: ReadonlyMap<string, string>,
  added: readonly AddedColumn[],
): Relation {
  const now = (meaning: string) => meanings.get(meaning) ?? meaning;
  const columns = relation.columns.map(column => ({ ...column, meaning: now(column.meaning) }));
  const more = added.filter(({ table }) => table === relation.name).map(({ table, ...column }) => column);
  return { ...relation, meaning: now(relation.meaning), columns: [...columns, ...more] };
}

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
