/** The names of organizations, installations and projects. */
import { type RawBuilder, sql } from 'kysely';
import type { Reader } from '../store/contract/reader.js';
import { queryBuilder } from '../store/sql/builder.js';
import { tableRef, select, sqlStatement } from '../store/sql/columns.js';
import { relation } from './lists/relation.js';
import { limitRows, readFirst, readOne, buildValidAtCondition } from './read-one.js';
import { cleanText, truncateName } from '../text/clean-text.js';
import { findSimilar } from '../text/spelling.js';

export interface NamedObject {
  readonly id: string;
  readonly name: string | null;
}

type Kind = 'organizations' | 'projects' | 'installations';

/** Selects ids and names, now or as of an instant. An installation has the name of its organization. */
function selectNames(kind: Kind, at: string | null): RawBuilder<NamedObject> {
  const id = sql.ref<string>('id');
  if (kind === 'installations') {
    const installation = tableRef('mirror.installations', 'installation');
    const owner = tableRef('mirror.organizations', 'owner');
    return sqlStatement`SELECT ${select({
      id: installation.id,
      name: sql<string | null>`coalesce(${owner.full_name}, ${installation.organization_id})`,
    })} FROM ${installation()} LEFT JOIN ${owner()} ON ${owner.id} = ${installation.organization_id}
    ORDER BY ${owner.full_name} NULLS FIRST, ${installation.id}`;
  }
  const rows =
    at === null ? relation(kind) : sql`${relation(`${kind}_history`)} WHERE ${buildValidAtCondition(at)}`;
  return sqlStatement`SELECT ${select({ id, name: sql.ref<string | null>('full_name') })} FROM ${rows}
    ORDER BY full_name NULLS FIRST, id`;
}

/** Reads the ids and names of the current organizations, projects or installations. */
export async function readNames({ all }: Reader, kind: Kind): Promise<NamedObject[]> {
  return await all(selectNames(kind, null));
}

/** Reads every organization of which the mirror holds or held anything, with the latest known name. */
export async function readOrganizationNames({ all }: Reader): Promise<NamedObject[]> {
  const known = queryBuilder
    .selectFrom('mirror.organizations')
    .select('id')
    .union(
      queryBuilder
        .selectFrom('mirror.installations')
        .select(sql.ref<string>('organization_id').as('id'))
        .where('organization_id', 'is not', null),
    )
    .union(queryBuilder.selectFrom('mirror.resource_states').select('organization_id as id'));
  return await all(
    queryBuilder
      .selectFrom(known.as('known'))
      .leftJoin('mirror.organizations as current', 'current.id', 'known.id')
      .select(eb => [
        'known.id',
        eb.fn
          .coalesce(
            'current.full_name',
            eb
              .selectFrom('mirror.organizations_history as earlier')
              .select('earlier.full_name')
              .whereRef('earlier.id', '=', 'known.id')
              .where('earlier.valid_to', 'is not', null)
              .orderBy('earlier.valid_to', 'desc')
              .limit(1),
          )
          .as('name'),
      ])
      .orderBy('known.id'),
  );
}

/** Reads the name of an organization, now or as of an instant. Returns null if it is unknown. */
export async function readNameOf(reader: Reader, id: string, at: string | null): Promise<string | null> {
  const names = sql<NamedObject>`(${selectNames('organizations', at)})`.as('organization');
  const row = await readFirst(
    reader,
    queryBuilder.selectFrom(names).select('organization.name').where('organization.id', '=', id),
  );
  return row?.name ?? null;
}

const TABLES_WITH_PROJECTS = ['warehouse_credits', 'inventory_credits', 'retirements'];

/**
 * Reads the name of a project from the credits and retirements that refer to it, now or as of an instant. Returns the id if none of these
 * rows has a name. Returns null if no row refers to the project.
 */
export async function readProjectNameFromRows(
  reader: Reader,
  id: string,
  at: string | null = null,
): Promise<string | null> {
  const selectFromTable = (name: string): RawBuilder<unknown> => {
    const rows = at === null ? relation(name) : sql`${relation(`${name}_history`)} AS named`;
    const wasValid = at === null ? sql`1 = 1` : buildValidAtCondition(at);
    return sql`SELECT coalesce(project_name, project_id) AS name FROM ${rows} WHERE project_id = ${id} AND ${wasValid}`;
  };
  const names = sql.join(TABLES_WITH_PROJECTS.map(selectFromTable), sql` UNION ALL `);
  const { name } = await readOne(
    reader,
    queryBuilder.selectNoFrom(sql<string | null>`(SELECT max(name) FROM (${names}) AS named)`.as('name')),
  );
  return name;
}

/**
 * Reads the projects that credits or retirements refer to and that the registry does not show to the app, now or as of an instant.
 * Their names are those in the credits and retirements. Reads at most `MOST_CHOICES` + 1.
 */
export async function readUnlistedProjects(reader: Reader, at: string | null): Promise<NamedObject[]> {
  return await readProjectNames(reader, await readUnlistedProjectIds(reader, at), at);
}

/**
 * Reads the ids of projects that credits or retirements ever referred to, and that the registry does not show to the app now, or did not
 * show at an instant. Reads at most `MOST_CHOICES` + 1.
 */
async function readUnlistedProjectIds({ all }: Reader, at: string | null): Promise<string[]> {
  const listed = queryBuilder
    .selectFrom(at === null ? 'mirror.projects' : 'mirror.projects_history')
    .select('id')
    .where(buildValidAtCondition(at));
  const references = await all(
    queryBuilder
      .selectFrom('mirror.project_references')
      .select('project_id')
      .distinct()
      .where('project_id', 'not in', listed)
      .orderBy('project_id')
      .limit(MOST_CHOICES + 1),
  );
  return references.map(({ project_id: id }) => id);
}

/**
 * Reads the names of projects from the credits and retirements that refer to them, now or as of an instant. Projects to which no row
 * refers are left out.
 */
async function readProjectNames(
  { all }: Reader,
  ids: readonly string[],
  at: string | null,
): Promise<NamedObject[]> {
  if (ids.length === 0) return [];
  const rows = TABLES_WITH_PROJECTS.map(name =>
    at === null ? selectCurrentProjectNames(name, ids) : selectProjectNamesAt(name, ids, at),
  );
  return await all(
    sqlStatement`SELECT ${select({ id: sql.ref<string>('project_id'), name: sql<string | null>`max(project_name)` })}
      FROM (${sql.join(rows, sql` UNION ALL `)}) AS named GROUP BY project_id ORDER BY project_id`,
  );
}

/** Selects one row for each project to which a table refers. The index by project contains the names, so few entries are read. */
function selectCurrentProjectNames(tableName: string, ids: readonly string[]): RawBuilder<unknown> {
  const table = relation(tableName);
  return sql`SELECT project_id,
      (SELECT max(named.project_name) FROM ${table} AS named WHERE named.project_id = project.project_id) AS project_name
    FROM (SELECT DISTINCT project_id FROM ${relation('project_references')} WHERE project_id IN ${ids}) AS project
    WHERE EXISTS (SELECT 1 FROM ${table} AS referring WHERE referring.project_id = project.project_id)`;
}

/** Selects the projects of all rows that a table had at an instant. This reads every version of the table. */
function selectProjectNamesAt(tableName: string, ids: readonly string[], at: string): RawBuilder<unknown> {
  return sql`SELECT project_id, project_name FROM ${relation(`${tableName}_history`)}
    WHERE project_id IN ${ids} AND ${buildValidAtCondition(at)}`;
}

/** Reads which registry and app the mirror is filled from, and since when. Null before a worker has started for the first time. */
export async function readOrigin(reader: Reader) {
  return await readFirst(
    reader,
    queryBuilder.selectFrom('mirror.origin').select(['base_url', 'app_id', 'created_at', 'simulated_until']),
  );
}

/** A value of a filter and the text that people see for it. */
export interface NamedChoice {
  readonly value: string;
  readonly label: string;
}

/** A longer list is too long to choose from. */
export const MOST_CHOICES = 200;

/**
 * Reads the names from which a visitor can choose. Projects that the registry does not show come last. Null if there are more than
 * `MOST_CHOICES`.
 */
export async function readChoices(
  reader: Reader,
  kind: Kind,
  at: string | null,
): Promise<NamedChoice[] | null> {
  const listed = await reader.all(limitRows(selectNames(kind, at), MOST_CHOICES + 1));
  const unlisted = kind === 'projects' ? await readUnlistedChoices(reader, at) : [];
  const names = [...listed, ...unlisted];
  return names.length > MOST_CHOICES ? null : names.map(({ id, name }) => ({ value: id, label: name ?? id }));
}

/**
 * Reads the projects that the registry does not show, to choose from. For a past instant, they have their current names, and some may
 * not have been known then: to find that out, all earlier versions would have to be read.
 */
async function readUnlistedChoices(reader: Reader, at: string | null): Promise<readonly NamedObject[]> {
  const ids = await readUnlistedProjectIds(reader, at);
  const named = await readProjectNames(reader, ids, null);
  if (at === null) return named;
  const nameOf = new Map(named.map(({ id, name }) => [id, name]));
  return ids.map(id => ({ id, name: nameOf.get(id) ?? null }));
}

/** Why a name leads to no row: nothing is called so, or several rows are. */
export interface NameFault {
  readonly fault: string;
  readonly isMissing: boolean;
  /** The kind of row, such as `organization`. */
  readonly what: string;
  /** Similar names if none matches, otherwise the rows that match. An example is `"Harbour Ferries", ID`. */
  readonly candidates: readonly string[];
}

export interface NameSearch {
  /** As in `organization`. */
  readonly what: string;
  /** As in `in the mirror`. */
  readonly where: string;
}

const MOST_LISTED = 10;

type Fits = (text: string, named: NamedObject) => boolean;

/** The first of these that fits anything decides. */
const WAYS: readonly Fits[] = [
  (text, { id }) => id === text,
  (text, { name }) => name === text,
  (text, { name }) => name?.toLowerCase() === text.toLowerCase(),
  (text, each) => textsOf(each).some(known => known.toLowerCase().startsWith(text.toLowerCase())),
  (text, { name }) => name?.toLowerCase().includes(text.toLowerCase()) === true,
];

/**
 * Finds a row by its id or name, by the beginning of either, or by a part of its name. Accepts `…` after the beginning of an id.
 * Reports a fault if no row or several rows match.
 */
export function findByName(
  given: string,
  known: readonly NamedObject[],
  sought: NameSearch,
): { readonly id: string } | NameFault {
  const text = given.length > 1 ? given.replace(/…$/, '') : given;
  if (text.trim() === '')
    return {
      what: sought.what,
      fault: `Expected the id or name of the ${sought.what}, got an empty text.`,
      isMissing: false,
      candidates: [],
    };
  for (const fits of WAYS) {
    const found = known.filter(named => fits(text, named));
    const [first] = found;
    if (first === undefined) continue;
    if (found.every(({ id }) => id === first.id)) return { id: first.id };
    return reportAmbiguousName(text, found, sought);
  }
  return reportMissingName(text, known, sought);
}

/** Reports that a text matches no name, and lists similar ones. */
export function reportMissingName(
  text: string,
  known: readonly NamedObject[],
  { what, where }: NameSearch,
): NameFault {
  return {
    what,
    fault: `There is no ${what} "${truncateName(text)}" ${where}.`,
    isMissing: true,
    candidates: findSimilar(text, known, textsOf).map(describeNamed),
  };
}

/** Reports that a text matches several names, and lists them. */
function reportAmbiguousName(text: string, found: readonly NamedObject[], { what }: NameSearch): NameFault {
  const more = found.length - MOST_LISTED;
  return {
    what,
    fault: `"${truncateName(text)}" matches more than one ${what}. Type more of the name, or the id.`,
    isMissing: false,
    candidates: [
      ...found.slice(0, MOST_LISTED).map(describeNamed),
      ...(more > 0 ? [`and ${more} more`] : []),
    ],
  };
}

/** Describes a row by its name and id, such as `"Harbour Ferries", ID`. */
function describeNamed({ id, name }: NamedObject): string {
  return name === null ? cleanText(id) : `"${truncateName(name)}", ${cleanText(id)}`;
}

/** Returns the id and, if there is one, the name. */
function textsOf({ id, name }: NamedObject): string[] {
  return name === null ? [id] : [id, name];
}

/** Returns a function that finds the id of an organization, installation or project from a text. */
const createFinder =
  (what: string, readAll: (reader: Reader) => Promise<readonly NamedObject[]>) =>
  async (reader: Reader, text: string) =>
    findByName(text, await readAll(reader), { what, where: 'in the mirror' });

export const findOrganization = createFinder('organization', readOrganizationNames);
export const findInstallation = createFinder('installation', reader => readNames(reader, 'installations'));
export const findProject = createFinder('project', reader => readNames(reader, 'projects'));
