import { MAX_MICRO, toTonnes } from './amounts.js';
import { conflict, found } from '../http/errors.js';
import type { Retirements } from './retirements.js';
import type { CreditRow, Place } from '../store/rows.js';
import { findIssued, inventoryCredit } from './shapes.js';
import type { Store } from '../store/store.js';
import { NOT_EMPTY, oneOf, readFields, refuseFaults, type TextRule } from '../http/validate.js';

const FRIENDBOT_MICRO = 100_000_000;
const FRIENDBOT_NUMBER = '0';
const FRIENDBOT_PROJECT = {
  num: FRIENDBOT_NUMBER,
  full_name: 'Friendbot test credits',
  short_description: 'Credits for trying things out.',
  description: '',
  status: 'validated',
  is_public: true,
  proponent_id: null,
  country_code: 'IS',
  city: null,
  start_date: null,
  crediting_period_start_date: null,
  details: {},
};

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

interface NewCredit {
  readonly projectId: string;
  readonly vintage: string;
  readonly type: CreditRow['type'];
  readonly serialization: string | null;
}

interface IssueOrder extends NewCredit {
  readonly organizationId: string;
  readonly micro: number;
  readonly place: Place;
  /** Null for a new credit of the project. */
  readonly creditId: string | null;
}

export function createCredits(store: Store, retirements: Retirements): Credits {
  const { tables, accounts, newId, newHash, now, verb } = store;
  const { credits, projects, organizations } = tables;

  function create({ projectId, vintage, type, serialization: asked }: NewCredit): string {
    const { num } = found(projects.get(projectId), 'Project');
    const [last] = credits.page(credits.count(), credits.count());
    const token_id = String(Number(last?.token_id ?? 0) + 1);
    const token_address = newHash(40);
    const serialization = asked ?? `ICR-ISL-354-${num}-${token_id}-R-0-${vintage}`;
    if (credits.named(serialization.toUpperCase()) !== undefined)
      throw conflict('A credit with this serialization exists');
    const id = `${type}-${token_id}-${token_address}`;
    const token = { token_id, token_address, serialization, vintage, type };
    credits.put({ id, project_id: projectId, ...token, issued_micro: 0, created_at: now() });
    return id;
  }

  function issueTo(organizationId: string, place: Place, creditId: string, micro: number): Moved {
    const row = found(credits.get(creditId), 'Credit');
    if (row.issued_micro > MAX_MICRO - micro) throw conflict('No more of this credit can be issued');
    credits.put({ ...row, issued_micro: row.issued_micro + micro });
    accounts.give(organizationId, place, creditId, micro);
    return { creditId, organizationId, place, amount: toTonnes(micro) };
  }

  const issue = verb('issue', (order: IssueOrder) => {
    found(organizations.get(order.organizationId), 'Organization');
    const creditId = order.creditId ?? create(order);
    return issueTo(order.organizationId, order.place, creditId, order.micro);
  });

  function readMove(organizationId: string, body: unknown): { creditId: string; micro: number } {
    const faults: string[] = [];
    const fields = readFields(body, faults);
    const asked = { creditId: fields.text('creditId'), micro: fields.micro('amount') };
    refuseFaults(faults);
    found(organizations.get(organizationId), 'Organization');
    found(credits.get(asked.creditId), 'Credit');
    return asked;
  }

  const move = verb('move', (organizationId: string, body: unknown, from: Place, to: Place) => {
    const { creditId, micro } = readMove(organizationId, body);
    accounts.take(organizationId, from, creditId, micro);
    accounts.give(organizationId, to, creditId, micro);
    return { creditId, organizationId, place: to, amount: toTonnes(micro) };
  });

  const retireOffPlatform = verb('retire off platform', (organizationId: string, body: unknown) => {
    const { creditId, micro } = readMove(organizationId, body);
    retirements.demandRetirable(found(credits.get(creditId), 'Credit').type);
    accounts.take(organizationId, 'inventory', creditId, micro);
    return retirements.get(retirements.record({ organizationId, appId: null, creditId, micro, data: null }));
  });

  function createFriendbotCredit(): string {
    const id = newId();
    projects.put({ ...FRIENDBOT_PROJECT, id, created_at: now(), updated_at: now() });
    return create({ projectId: id, vintage: now().slice(0, 4), type: 'exPost', serialization: null });
  }

  const friendbot = verb('friendbot', (organizationId: string) => {
    found(organizations.get(organizationId), 'Organization');
    const [first] = credits.rows(projects.named(FRIENDBOT_NUMBER)?.id ?? 'none');
    const { creditId } = issueTo(
      organizationId,
      'inventory',
      first?.id ?? createFriendbotCredit(),
      FRIENDBOT_MICRO,
    );
    const deposited = { organization_id: organizationId, amount_micro: FRIENDBOT_MICRO };
    return { credits: [inventoryCredit(deposited, findIssued(tables, creditId))], organizationId };
  });

  return {
    issue: body => issue(readIssue(body)),
    deposit: (organizationId, body) => move(organizationId, body, 'inventory', 'warehouse'),
    withdraw: (organizationId, body) => move(organizationId, body, 'warehouse', 'inventory'),
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
