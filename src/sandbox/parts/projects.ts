import { badRequest, conflict, found } from '../http/errors.js';
import { type ListAnswer, type PageQuery, toPage } from '../http/pages.js';
import { type IssuedRow, issuance, project, summarize, type WholeProjectRow } from './shapes.js';
import type { Store } from '../store/store.js';
import { IS_COUNTRY_CODE, NOT_EMPTY, readFields, refuseFaults } from '../http/validate.js';

type ProjectShape = ReturnType<typeof project>;
type WholeProject = ProjectShape & { readonly isPublic: boolean };

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

const WITH_PROPONENT = 'left join organizations o on o.id = p.proponent_id';
const COLUMNS = 'p.*, o.full_name as proponent_name, o.logo as proponent_logo';
const PROJECTS = `select ${COLUMNS} from projects p ${WITH_PROPONENT}`;
const PROJECT_OF_CREDIT = `select ${COLUMNS} from credits c join projects p on p.id = c.project_id ${WITH_PROPONENT}`;

export function createProjects({ db, newId, write }: Store): Projects {
  const count = db.prepare<[], number>('select count(*) from projects where is_public = 1').pluck();
  const page = db.prepare<[number, number], WholeProjectRow>(
    `${PROJECTS} where p.is_public = 1 order by p.created_at desc, p.id limit ? offset ?`,
  );
  const find = db.prepare<[string], WholeProjectRow>(`${PROJECTS} where p.id = ?`);
  const everyRow = db.prepare<[], WholeProjectRow>(`${PROJECTS} order by p.created_at desc, p.id`);
  const findByCreditId = db.prepare<[string, string | null, string | null], WholeProjectRow>(
    `${PROJECT_OF_CREDIT} where c.id = ? and (? is null or c.serialization = ?)`,
  );
  const findBySerialization = db.prepare<[string], WholeProjectRow>(
    `${PROJECT_OF_CREDIT} where c.serialization = ?`,
  );
  const findIssued = db.prepare<[string, string], IssuedRow>(
    `select c.*, coalesce(r.micro, 0) as retired_micro from credits c left join
       (select credit_id, sum(amount_micro) as micro from retirements
        where credit_id in (select id from credits where project_id = ?) group by credit_id) r on r.credit_id = c.id
     where c.project_id = ? order by c.vintage, c.id`,
  );
  const organizationExists = db.prepare<[string]>('select 1 from organizations where id = ?');
  const findNumber = db.prepare<[string]>('select 1 from projects where num = ?');
  const lastNumber = db
    .prepare<[], number>('select coalesce(max(cast(num as integer)), 0) from projects')
    .pluck();
  const insert = db.prepare<[object]>(
    `insert into projects (id, num, full_name, short_description, description, status, is_public, proponent_id,
                           country_code, created_at, updated_at)
     values (@id, @num, @name, @short, @long, @status, @isPublic, @proponentId, @countryCode, @now, @now)`,
  );
  const update = db.prepare<[string, string, number, string, string]>(
    'update projects set full_name = ?, short_description = ?, is_public = ?, updated_at = ? where id = ?',
  );

  function findPublic(query: Readonly<Record<string, unknown>>): ProjectShape {
    const serialization = readQueryText(query, 'serialization');
    const creditId = readQueryText(query, 'creditId');
    if (creditId !== null) return showPublic(findByCreditId.get(creditId, serialization, serialization));
    if (serialization === null) throw badRequest('serialization or creditId is needed');
    return showPublic(findBySerialization.get(serialization));
  }

  function credits(id: string): object {
    const shown = showPublic(find.get(id));
    const issued = findIssued.all(id, id);
    const vintages = [...new Set(issued.map(({ vintage }) => vintage))].map(vintage => {
      const rows = issued.filter(row => row.vintage === vintage);
      return { vintage, summary: summarize(rows), events: rows.map(issuance) };
    });
    return { summary: summarize(issued), vintages, project: shown };
  }

  function create(body: unknown): WholeProject {
    const faults: string[] = [];
    const fields = readFields(body, faults);
    const made = {
      id: newId(),
      name: fields.text('fullName', NOT_EMPTY),
      short: fields.optionalText('shortDescription') ?? '',
      long: fields.optionalText('description') ?? '',
      status: fields.optionalText('status') ?? 'validated',
      isPublic: fields.flag('isPublic', true) ? 1 : 0,
      proponentId: fields.optionalText('proponentId'),
      countryCode: fields.optionalText('countryCode', IS_COUNTRY_CODE),
    };
    const asked = fields.optionalText('num');
    refuseFaults(faults);
    write(now => {
      if (made.proponentId !== null) found(organizationExists.get(made.proponentId), 'Proponent');
      const num = asked ?? String((lastNumber.get() ?? 0) + 1);
      if (findNumber.get(num) !== undefined) throw conflict('A project with this number exists');
      insert.run({ ...made, num, now });
    });
    return showWhole(found(find.get(made.id), 'Project'));
  }

  function change(id: string, body: unknown): WholeProject {
    const faults: string[] = [];
    const fields = readFields(body, faults);
    const old = found(find.get(id), 'Project');
    const name = fields.optionalText('fullName', NOT_EMPTY) ?? old.full_name;
    const short = fields.optionalText('shortDescription') ?? old.short_description;
    const isPublic = fields.flag('isPublic', old.is_public === 1) ? 1 : 0;
    refuseFaults(faults);
    write(now => update.run(name, short, isPublic, now, id));
    return showWhole(found(find.get(id), 'Project'));
  }

  return {
    list(query) {
      const { skip, pagination } = toPage(count.get() ?? 0, query);
      const projects = page.all(query.limit, skip).map(project);
      return { pagination, projects };
    },
    getPublic: id => showPublic(find.get(id)),
    findPublic,
    credits,
    all: () => everyRow.all().map(showWhole),
    create,
    change,
  };
}

function readQueryText(query: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = query[name];
  if (value === undefined) return null;
  if (typeof value !== 'string' || value === '') throw badRequest(`${name} must be a text that is not empty`);
  return value;
}

function showPublic(row: WholeProjectRow | undefined): ProjectShape {
  return project(found(row?.is_public === 1 ? row : undefined, 'Project'));
}

function showWhole(row: WholeProjectRow): WholeProject {
  return { ...project(row), isPublic: row.is_public === 1 };
}
