import { badRequest, conflict, found } from '../http/errors.js';
import { type PageQuery, pageOf } from '../http/pages.js';
import type { ProjectRow } from '../store/rows.js';
import { issuance, project, summarize } from './shapes.js';
import type { Store } from '../store/store.js';
import { compare, newestFirst } from '../store/tables.js';
import { type Fields, IS_COUNTRY_CODE, NOT_EMPTY, readBody } from '../http/validate.js';

type Creation = ReturnType<typeof readCreation>;

const UNTOLD = { city: null, startDate: null, creditingPeriodStartDate: null, details: {} };

export function createProjects({ tables, newId, now, verb }: Store) {
  const { projects, organizations, retirements } = tables;

  function show(row: ProjectRow) {
    return project(row, organizations.get(row.proponentId ?? ''));
  }

  function showWhole(row: ProjectRow) {
    return { ...show(row), isPublic: row.isPublic };
  }

  function showPublic(id: string | undefined) {
    const row = projects.get(id ?? '');
    return show(found(row?.isPublic ? row : undefined, 'Project'));
  }

  function findPublic(query: Readonly<Record<string, unknown>>) {
    const serialization = readQueryText(query, 'serialization')?.toUpperCase() ?? null;
    const creditId = readQueryText(query, 'creditId');
    const bySerialization = serialization === null ? undefined : tables.credits.named(serialization);
    if (creditId === null) {
      if (serialization === null) throw badRequest('serialization or creditId is needed');
      return showPublic(bySerialization?.projectId);
    }
    const credit = tables.credits.get(creditId);
    return showPublic(serialization === null || credit === bySerialization ? credit?.projectId : undefined);
  }

  /** What a public project has issued, year by year. */
  function credits(id: string) {
    const shown = showPublic(id);
    const retired = new Map<string, number>();
    for (const { creditId, amountMicro } of retirements.rows())
      retired.set(creditId, (retired.get(creditId) ?? 0) + amountMicro);
    const issued = tables.credits
      .rows(id)
      .map(row => ({ ...row, retiredMicro: retired.get(row.id) ?? 0 }))
      .toSorted((one, other) => compare(one.vintage, other.vintage) || compare(one.id, other.id));
    const vintages = [...new Set(issued.map(({ vintage }) => vintage))].map(vintage => {
      const rows = issued.filter(row => row.vintage === vintage);
      return { vintage, summary: summarize(rows), events: rows.map(issuance) };
    });
    return { summary: summarize(issued), vintages, project: shown };
  }

  const create = verb('create project', ({ num: asked, ...made }: Creation) => {
    if (made.proponentId !== null) found(organizations.get(made.proponentId), 'Proponent');
    const last = projects.rows().reduce((most, { num }) => Math.max(most, Number.parseInt(num, 10) || 0), 0);
    const num = asked ?? String(last + 1);
    if (projects.named(num) !== undefined) throw conflict('A project with this number exists');
    const row = { ...made, id: newId(), num, createdAt: now(), updatedAt: now() };
    projects.put(row);
    return showWhole(row);
  });

  const change = verb('change project', (id: string, changed: Partial<ProjectRow>) => {
    const row = { ...projects.find(id), ...changed, updatedAt: now() };
    projects.put(row);
    return showWhole(row);
  });

  return {
    /** The list, one, and the finder show public projects only. */
    list(query: PageQuery) {
      const { pagination, items } = pageOf(newestFirst(projects.rows().filter(row => row.isPublic)), query);
      return { pagination, projects: items.map(show) };
    },
    getPublic: showPublic,
    findPublic,
    credits,
    /** The human side sees every project. */
    all: () => newestFirst(projects.rows()).map(showWhole),
    create: (body: unknown) => create(readBody(body, readCreation)),
    change(id: string, body: unknown) {
      const old = projects.find(id);
      const changed = readBody(body, fields => ({
        fullName: fields.optionalText('fullName', NOT_EMPTY) ?? old.fullName,
        shortDescription: fields.optionalText('shortDescription') ?? old.shortDescription,
        isPublic: fields.flag('isPublic', old.isPublic),
      }));
      return change(id, changed);
    },
  };
}

function readCreation(fields: Fields) {
  return {
    ...UNTOLD,
    num: fields.optionalText('num'),
    fullName: fields.text('fullName', NOT_EMPTY),
    shortDescription: fields.optionalText('shortDescription') ?? '',
    description: fields.optionalText('description') ?? '',
    status: fields.optionalText('status') ?? 'validated',
    isPublic: fields.flag('isPublic', true),
    proponentId: fields.optionalText('proponentId'),
    countryCode: fields.optionalText('countryCode', IS_COUNTRY_CODE),
  };
}

function readQueryText(query: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = query[name];
  if (value === undefined) return null;
  if (typeof value !== 'string' || value === '') throw badRequest(`${name} must be a text that is not empty`);
  return value;
}
