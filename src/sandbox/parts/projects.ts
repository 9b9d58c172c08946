import { badRequest, conflict, found } from '../http/errors.js';
import { type ListAnswer, type PageQuery, toPage } from '../http/pages.js';
import type { ProjectRow } from '../store/rows.js';
import { issuance, project, summarize } from './shapes.js';
import type { Store } from '../store/store.js';
import { compare, newestFirst } from '../store/table.js';
import { IS_COUNTRY_CODE, NOT_EMPTY, readFields, refuseFaults } from '../http/validate.js';

type ProjectShape = ReturnType<typeof project>;
type WholeProject = ProjectShape & { readonly isPublic: boolean };
type Creation = Omit<ProjectRow, 'id' | 'num' | 'created_at' | 'updated_at'> & {
  readonly num: string | null;
};

export interface Projects {
  /** The list, one, and the finder show public projects only. */
  list(query: PageQuery): ListAnswer;
  getPublic(id: string): ProjectShape;
  findPublic(query: Readonly<Record<string, unknown>>): ProjectShape;
  /** What a public project has issued, year by year. */
  credits(id: string): object;
  /** The human side sees every project. */
  all(): readonly WholeProject[];
  create(body: unknown): WholeProject;
  change(id: string, body: unknown): WholeProject;
}

const UNTOLD = { city: null, start_date: null, crediting_period_start_date: null, details: {} };

export function createProjects({ tables, newId, now, verb }: Store): Projects {
  const { projects, organizations, retirements } = tables;

  function show(row: ProjectRow): ProjectShape {
    return project(row, organizations.get(row.proponent_id ?? ''));
  }

  function showWhole(row: ProjectRow): WholeProject {
    return { ...show(row), isPublic: row.is_public };
  }

  function showPublic(id: string | undefined): ProjectShape {
    const row = projects.get(id ?? '');
    return show(found(row?.is_public ? row : undefined, 'Project'));
  }

  function findPublic(query: Readonly<Record<string, unknown>>): ProjectShape {
    const serialization = readQueryText(query, 'serialization')?.toUpperCase() ?? null;
    const creditId = readQueryText(query, 'creditId');
    const bySerialization = serialization === null ? undefined : tables.credits.named(serialization);
    if (creditId === null) {
      if (serialization === null) throw badRequest('serialization or creditId is needed');
      return showPublic(bySerialization?.project_id);
    }
    const credit = tables.credits.get(creditId);
    return showPublic(serialization === null || credit === bySerialization ? credit?.project_id : undefined);
  }

  function credits(id: string): object {
    const shown = showPublic(id);
    const retired = new Map<string, number>();
    for (const { credit_id, amount_micro } of retirements.rows())
      retired.set(credit_id, (retired.get(credit_id) ?? 0) + amount_micro);
    const issued = tables.credits
      .rows(id)
      .map(row => ({ ...row, retired_micro: retired.get(row.id) ?? 0 }))
      .toSorted((one, other) => compare(one.vintage, other.vintage) || compare(one.id, other.id));
    const vintages = [...new Set(issued.map(({ vintage }) => vintage))].map(vintage => {
      const rows = issued.filter(row => row.vintage === vintage);
      return { vintage, summary: summarize(rows), events: rows.map(issuance) };
    });
    return { summary: summarize(issued), vintages, project: shown };
  }

  const create = verb('create project', ({ num: asked, ...made }: Creation) => {
    if (made.proponent_id !== null) found(organizations.get(made.proponent_id), 'Proponent');
    const last = projects.rows().reduce((most, { num }) => Math.max(most, Number.parseInt(num, 10) || 0), 0);
    const num = asked ?? String(last + 1);
    if (projects.named(num) !== undefined) throw conflict('A project with this number exists');
    const row = { ...made, id: newId(), num, created_at: now(), updated_at: now() };
    projects.put(row);
    return showWhole(row);
  });

  const change = verb('change project', (id: string, changed: Partial<ProjectRow>) => {
    const row = { ...found(projects.get(id), 'Project'), ...changed, updated_at: now() };
    projects.put(row);
    return showWhole(row);
  });

  return {
    list(query) {
      const rows = newestFirst(projects.rows().filter(row => row.is_public));
      const { skip, pagination } = toPage(rows.length, query);
      return { pagination, projects: rows.slice(skip, skip + query.limit).map(show) };
    },
    getPublic: showPublic,
    findPublic,
    credits,
    all: () => newestFirst(projects.rows()).map(showWhole),
    create: body => create(readCreation(body)),
    change(id, body) {
      const faults: string[] = [];
      const fields = readFields(body, faults);
      const old = found(projects.get(id), 'Project');
      const full_name = fields.optionalText('fullName', NOT_EMPTY) ?? old.full_name;
      const short_description = fields.optionalText('shortDescription') ?? old.short_description;
      const is_public = fields.flag('isPublic', old.is_public);
      refuseFaults(faults);
      return change(id, { full_name, short_description, is_public });
    },
  };
}

function readCreation(body: unknown): Creation {
  const faults: string[] = [];
  const fields = readFields(body, faults);
  const made = {
    ...UNTOLD,
    num: fields.optionalText('num'),
    full_name: fields.text('fullName', NOT_EMPTY),
    short_description: fields.optionalText('shortDescription') ?? '',
    description: fields.optionalText('description') ?? '',
    status: fields.optionalText('status') ?? 'validated',
    is_public: fields.flag('isPublic', true),
    proponent_id: fields.optionalText('proponentId'),
    country_code: fields.optionalText('countryCode', IS_COUNTRY_CODE),
  };
  refuseFaults(faults);
  return made;
}

function readQueryText(query: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = query[name];
  if (value === undefined) return null;
  if (typeof value !== 'string' || value === '') throw badRequest(`${name} must be a text that is not empty`);
  return value;
}
