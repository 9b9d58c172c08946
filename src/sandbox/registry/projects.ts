import { badRequest, conflict, requireFound } from '../http/api-errors.js';
import { type PageRequest, paginate } from '../http/paging.js';
import type { ProjectRecord } from '../store/records.js';
import { toIssuanceJson, toProjectJson, summarizeCredits } from './to-json.js';
import type { SandboxStore } from '../store/store.js';
import { compareText, sortNewestFirst } from '../store/tables.js';
import { type BodyFields, COUNTRY_CODE, NOT_EMPTY, readBody } from '../http/request-body.js';

type NewProject = ReturnType<typeof readNewProject>;

const DEFAULTS = { city: null, startDate: null, creditingPeriodStartDate: null, details: {} };

/** Creates the service that creates, changes, finds and lists projects. */
export function createProjectService({ tables, newId, now, defineOperation }: SandboxStore) {
  const { projects, organizations, retirements } = tables;

  /** Converts a project to JSON, including the organization that proposed the project. */
  function toJson(row: ProjectRecord) {
    return toProjectJson(row, organizations.get(row.proponentId ?? ''));
  }

  /** Converts a project to the JSON of the control API, including whether the project is public. */
  function toControlJson(row: ProjectRecord) {
    return { ...toJson(row), isPublic: row.isPublic };
  }

  /** Returns the JSON of a public project. Throws a 404 error for an unknown or hidden project. */
  function getPublic(id: string | undefined) {
    const row = projects.get(id ?? '');
    return toJson(requireFound(row?.isPublic ? row : undefined, 'Project'));
  }

  /**
   * Returns the public project of the credit that the query names by `creditId`, by `serialization` (serial number), or by both.
   * Throws a 400 error if the query has neither, and a 404 error if there is no such project.
   */
  function findPublicByCredit(query: Readonly<Record<string, unknown>>) {
    // If the query has both, they must name the same credit.
    const serialization = readQueryText(query, 'serialization')?.toUpperCase() ?? null;
    const creditId = readQueryText(query, 'creditId');
    const bySerialization = serialization === null ? undefined : tables.credits.getByName(serialization);
    if (creditId === null) {
      if (serialization === null) throw badRequest('serialization or creditId is needed');
      return getPublic(bySerialization?.projectId);
    }
    const credit = tables.credits.get(creditId);
    return getPublic(serialization === null || credit === bySerialization ? credit?.projectId : undefined);
  }

  /**
   * Returns a public project and its issued and retired amounts, in total and for each vintage. Throws a 404 error for an unknown
   * or hidden project.
   */
  function summarizeIssuance(projectId: string) {
    const shown = getPublic(projectId);
    const retired = new Map<string, number>();
    for (const { creditId, amountMicro } of retirements.list())
      retired.set(creditId, (retired.get(creditId) ?? 0) + amountMicro);
    const issued = tables.credits
      .list(projectId)
      .map(row => ({ ...row, retiredMicro: retired.get(row.id) ?? 0 }))
      .toSorted((left, right) => compareText(left.vintage, right.vintage) || compareText(left.id, right.id));
    const vintages = [...new Set(issued.map(({ vintage }) => vintage))].map(vintage => {
      const rows = issued.filter(row => row.vintage === vintage);
      return { vintage, summary: summarizeCredits(rows), events: rows.map(toIssuanceJson) };
    });
    return { summary: summarizeCredits(issued), vintages, project: shown };
  }

  const create = defineOperation('create project', ({ num: requestedNum, ...fields }: NewProject) => {
    if (fields.proponentId !== null) requireFound(organizations.get(fields.proponentId), 'Proponent');
    const numbers = projects.list().map(row => Number.parseInt(row.num, 10) || 0);
    const last = numbers.reduce((highest, number) => Math.max(highest, number), 0);
    const num = requestedNum ?? String(last + 1);
    if (projects.getByName(num) !== undefined) throw conflict('A project with this number exists');
    const row = { ...fields, id: newId(), num, createdAt: now(), updatedAt: now() };
    projects.put(row);
    return toControlJson(row);
  });

  const change = defineOperation('change project', (id: string, changes: Partial<ProjectRecord>) => {
    const row = { ...projects.getOrThrow(id), ...changes, updatedAt: now() };
    projects.put(row);
    return toControlJson(row);
  });

  return {
    /** Returns one page of the public projects. */
    list(query: PageRequest) {
      const { pagination, items } = paginate(
        sortNewestFirst(projects.list().filter(row => row.isPublic)),
        query,
      );
      return { pagination, projects: items.map(toJson) };
    },
    getPublic,
    findPublicByCredit,
    summarizeIssuance,
    /** Lists all projects, including hidden ones. */
    listAll: () => sortNewestFirst(projects.list()).map(toControlJson),
    create: (body: unknown) => create(readBody(body, readNewProject)),
    /** Changes a project's name, short description and visibility to those in a request body. Absent fields stay unchanged. */
    change(id: string, body: unknown) {
      const old = projects.getOrThrow(id);
      const changes = readBody(body, fields => ({
        fullName: fields.optionalText('fullName', NOT_EMPTY) ?? old.fullName,
        shortDescription: fields.optionalText('shortDescription') ?? old.shortDescription,
        isPublic: fields.boolean('isPublic', old.isPublic),
      }));
      return change(id, changes);
    },
  };
}

/** Reads the fields of a new project from a request body. Absent optional fields get defaults. */
function readNewProject(fields: BodyFields) {
  return {
    ...DEFAULTS,
    num: fields.optionalText('num'),
    fullName: fields.text('fullName', NOT_EMPTY),
    shortDescription: fields.optionalText('shortDescription') ?? '',
    description: fields.optionalText('description') ?? '',
    status: fields.optionalText('status') ?? 'validated',
    isPublic: fields.boolean('isPublic', true),
    proponentId: fields.optionalText('proponentId'),
    countryCode: fields.optionalText('countryCode', COUNTRY_CODE),
  };
}

/** Returns a query parameter, or null if absent. Throws a 400 error if it is empty or repeated. */
function readQueryText(query: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = query[name];
  if (value === undefined) return null;
  if (typeof value !== 'string' || value === '') throw badRequest(`${name} must be a text that is not empty`);
  return value;
}
