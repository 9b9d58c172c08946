import { randomBytes } from 'node:crypto';
import { MAX_MICRO, toTonnes } from './amounts.js';
import { conflict, found } from '../http/errors.js';
import type { Retirements } from './retirements.js';
import type { CreditRow, Place, ProjectRow } from '../store/schema.js';
import { HOLDINGS } from './holdings.js';
import { type HoldingColumns, inventoryCredit } from './shapes.js';
import type { Store } from '../store/store.js';
import { NOT_EMPTY, oneOf, readFields, refuseFaults, type TextRule } from '../http/validate.js';

const FRIENDBOT_MICRO = 100_000_000;
const FRIENDBOT_PROJECT = 'Friendbot test credits';

const IS_YEAR: TextRule = { holds: text => /^\d{4}$/.test(text), expected: 'a year of four digits' };

interface Moved {
  readonly creditId: string;
  readonly organizationId: string;
  readonly place: Place;
  readonly amount: number;
}

export interface Credits {
  /** A new credit for a project, or more of one that exists, into an organization's inventory or warehouse. */
  issue(body: unknown): Moved;
  /** From the inventory into the warehouse. */
  deposit(organizationId: string, body: unknown): Moved;
  /** And back. */
  withdraw(organizationId: string, body: unknown): Moved;
  /** Retired outside the platform: a retirement that nobody has claimed. */
  retireOffPlatform(organizationId: string, body: unknown): object;
  friendbot(organizationId: string): object;
}

interface CreditKind {
  readonly vintage: string;
  readonly type: 'exPost' | 'exAnte';
  readonly serialization: string | null;
}

interface NewCredit extends CreditKind {
  readonly project: ProjectRow;
}

interface IssueOrder extends CreditKind {
  readonly organizationId: string;
  readonly micro: number;
  readonly place: Place;
  /** Null for a new credit of the project. */
  readonly creditId: string | null;
  readonly projectId: string;
}

export function createCredits(store: Store, retirements: Retirements): Credits {
  const { db, accounts, newId, write } = store;
  const organizationExists = db
    .prepare<[string], string>('select id from organizations where id = ?')
    .pluck();
  const findProject = db.prepare<[string], ProjectRow>('select * from projects where id = ?');
  const find = db.prepare<[string], CreditRow>('select * from credits where id = ?');
  const findSerialization = db.prepare<[string]>('select 1 from credits where serialization = ?');
  const lastToken = db
    .prepare<[], number>('select coalesce(max(cast(token_id as integer)), 0) from credits')
    .pluck();
  const insert = db.prepare<[CreditRow]>(
    `insert into credits (id, project_id, token_id, token_address, serialization, vintage, type, issued_micro, created_at)
     values (@id, @project_id, @token_id, @token_address, @serialization, @vintage, @type, @issued_micro, @created_at)`,
  );
  const grow = db.prepare<[number, string, number]>(
    'update credits set issued_micro = issued_micro + ? where id = ? and issued_micro <= ?',
  );
  const insertFriendbotProject = db.prepare<[string, string, string, string]>(
    `insert into projects (id, num, full_name, short_description, description, status, is_public, country_code,
                           created_at, updated_at)
     values (?, '0', ?, 'Credits for trying things out.', '', 'validated', 1, 'IS', ?, ?)`,
  );
  const friendbotCredit = db
    .prepare<[], string>(
      `select c.id from credits c join projects p on p.id = c.project_id where p.num = '0' limit 1`,
    )
    .pluck();
  const findHolding = db.prepare<[string, string], HoldingColumns>(
    `${HOLDINGS} where h.organization_id = ? and h.place = 'inventory' and h.credit_id = ?`,
  );

  function create({ project, vintage, type, serialization }: NewCredit, now: string): string {
    const token = String((lastToken.get() ?? 0) + 1);
    const tokenAddress = `0x${randomBytes(20).toString('hex')}`;
    const id = `${type}-${token}-${tokenAddress}`;
    const serial = serialization ?? `ICR-ISL-354-${project.num}-${token}-R-0-${vintage}`;
    if (findSerialization.get(serial) !== undefined)
      throw conflict('A credit with this serialization exists');
    insert.run({
      id,
      project_id: project.id,
      token_id: token,
      token_address: tokenAddress,
      serialization: serial,
      vintage,
      type,
      issued_micro: 0,
      created_at: now,
    });
    return id;
  }

  function issueTo(organizationId: string, place: Place, creditId: string, micro: number): Moved {
    const grown = grow.run(micro, creditId, MAX_MICRO - micro).changes === 1;
    if (!grown) throw conflict('No more of this credit can be issued');
    accounts.give(organizationId, place, creditId, micro);
    return { creditId, organizationId, place, amount: toTonnes(micro) };
  }

  function issue(body: unknown): Moved {
    const order = readIssue(body);
    return write(now => {
      found(organizationExists.get(order.organizationId), 'Organization');
      const creditId = order.creditId === null ? createOrdered(order, now) : order.creditId;
      found(find.get(creditId), 'Credit');
      return issueTo(order.organizationId, order.place, creditId, order.micro);
    });
  }

  function createOrdered({ projectId, ...kind }: IssueOrder, now: string): string {
    return create({ ...kind, project: found(findProject.get(projectId), 'Project') }, now);
  }

  function readMove(organizationId: string, body: unknown): { creditId: string; micro: number } {
    const faults: string[] = [];
    const fields = readFields(body, faults);
    const asked = { creditId: fields.text('creditId'), micro: fields.micro('amount') };
    refuseFaults(faults);
    found(organizationExists.get(organizationId), 'Organization');
    found(find.get(asked.creditId), 'Credit');
    return asked;
  }

  function move(organizationId: string, body: unknown, [from, to]: readonly [Place, Place]): Moved {
    return write(() => {
      const { creditId, micro } = readMove(organizationId, body);
      accounts.take(organizationId, from, creditId, micro);
      accounts.give(organizationId, to, creditId, micro);
      return { creditId, organizationId, place: to, amount: toTonnes(micro) };
    });
  }

  function retireOffPlatform(organizationId: string, body: unknown): object {
    const id = write(now => {
      const { creditId, micro } = readMove(organizationId, body);
      retirements.demandRetirable(found(find.get(creditId), 'Credit').type);
      accounts.take(organizationId, 'inventory', creditId, micro);
      return retirements.record({ organizationId, appId: null, creditId, micro, data: null }, now);
    });
    return retirements.get(id);
  }

  function createFriendbotCredit(now: string): string {
    const id = newId();
    insertFriendbotProject.run(id, FRIENDBOT_PROJECT, now, now);
    const project = found(findProject.get(id), 'Project');
    return create({ project, vintage: now.slice(0, 4), type: 'exPost', serialization: null }, now);
  }

  function friendbot(organizationId: string): object {
    const { creditId, amount } = write(now => {
      found(organizationExists.get(organizationId), 'Organization');
      const credit = friendbotCredit.get() ?? createFriendbotCredit(now);
      return issueTo(organizationId, 'inventory', credit, FRIENDBOT_MICRO);
    });
    const row = found(findHolding.get(organizationId, creditId), 'Credit');
    const deposited = { ...inventoryCredit(row), amount };
    return { credits: [deposited], organizationId };
  }

  return {
    issue,
    deposit: (organizationId, body) => move(organizationId, body, ['inventory', 'warehouse']),
    withdraw: (organizationId, body) => move(organizationId, body, ['warehouse', 'inventory']),
    retireOffPlatform,
    friendbot,
  };
}

function readIssue(body: unknown): IssueOrder {
  const faults: string[] = [];
  const fields = readFields(body, faults);
  const creditId = fields.optionalText('creditId');
  const place = fields.optionalText('place', oneOf(['warehouse', 'inventory']));
  const type = fields.optionalText('type', oneOf(['exPost', 'exAnte']));
  const order: IssueOrder = {
    organizationId: fields.text('organizationId'),
    micro: fields.micro('amount'),
    place: place === 'warehouse' ? 'warehouse' : 'inventory',
    creditId,
    projectId: creditId === null ? fields.text('projectId') : '',
    vintage: fields.optionalText('vintage', IS_YEAR) ?? '2024',
    type: type === 'exAnte' ? 'exAnte' : 'exPost',
    serialization: fields.optionalText('serialization', NOT_EMPTY),
  };
  refuseFaults(faults);
  return order;
}
