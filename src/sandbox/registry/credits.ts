import { MAX_MICRO, toTonnes } from './amounts.js';
import { conflict } from '../http/errors.js';
import type { Retirements } from './retirements.js';
import type { CreditRow, Place } from '../store/rows.js';
import { findIssued, inventoryCredit } from './shapes.js';
import type { Store } from '../store/store.js';
import { type Fields, IS_YEAR, NOT_EMPTY, oneOf, readBody, readPart } from '../http/validate.js';

const FRIENDBOT_MICRO = 100_000_000;
const FRIENDBOT_NUMBER = '0';
const FRIENDBOT_PROJECT = {
  num: FRIENDBOT_NUMBER,
  fullName: 'Friendbot test credits',
  shortDescription: 'Credits for trying things out.',
  description: '',
  status: 'validated',
  isPublic: true,
  proponentId: null,
  countryCode: 'IS',
  city: null,
  startDate: null,
  creditingPeriodStartDate: null,
  details: {},
};

type NewCredit = Pick<CreditRow, 'projectId' | 'vintage' | 'type'> & {
  readonly serialization: string | null;
};

interface IssueOrder extends NewCredit {
  readonly organizationId: string;
  readonly micro: number;
  readonly place: Place;
  /** Null for a new credit of the project. */
  readonly creditId: string | null;
}

export function createCredits(store: Store, retirements: Retirements) {
  const { tables, accounts, newId, newHash, now, verb } = store;
  const { credits, projects, organizations } = tables;

  function create({ projectId, vintage, type, serialization: asked }: NewCredit): string {
    const { num } = projects.find(projectId);
    const [last] = credits.newest(1);
    const tokenId = String(Number(last?.tokenId ?? 0) + 1);
    const tokenAddress = newHash(40);
    const serialization = asked ?? `ICR-ISL-354-${num}-${tokenId}-R-0-${vintage}`;
    if (credits.named(serialization.toUpperCase()) !== undefined)
      throw conflict('A credit with this serialization exists');
    const id = `${type}-${tokenId}-${tokenAddress}`;
    const token = { tokenId, tokenAddress, serialization, vintage, type };
    credits.put({ id, projectId, ...token, issuedMicro: 0, createdAt: now() });
    return id;
  }

  function issueTo(organizationId: string, place: Place, creditId: string, micro: number) {
    const row = credits.find(creditId);
    if (row.issuedMicro > MAX_MICRO - micro) throw conflict('No more of this credit can be issued');
    credits.put({ ...row, issuedMicro: row.issuedMicro + micro });
    accounts.give(organizationId, place, creditId, micro);
    return { creditId, organizationId, place, amount: toTonnes(micro) };
  }

  const issue = verb('issue', (order: IssueOrder) => {
    organizations.find(order.organizationId);
    const creditId = order.creditId ?? create(order);
    return issueTo(order.organizationId, order.place, creditId, order.micro);
  });

  function take(organizationId: string, body: unknown, from: Place) {
    const { creditId, micro } = readBody(body, readPart);
    organizations.find(organizationId);
    const { type } = credits.find(creditId);
    accounts.take(organizationId, from, creditId, micro);
    return { creditId, micro, type };
  }

  const move = verb('move', (organizationId: string, body: unknown, from: Place, to: Place) => {
    const { creditId, micro } = take(organizationId, body, from);
    accounts.give(organizationId, to, creditId, micro);
    return { creditId, organizationId, place: to, amount: toTonnes(micro) };
  });

  /** Retired outside the platform: a retirement that nobody has claimed. */
  const retireOffPlatform = verb('retire off platform', (organizationId: string, body: unknown) => {
    const { creditId, micro: amountMicro, type } = take(organizationId, body, 'inventory');
    retirements.demandRetirable(type);
    return retirements.record({ organizationId, appId: null, creditId, amountMicro, words: null });
  });

  function createFriendbotCredit(): string {
    const id = newId();
    projects.put({ ...FRIENDBOT_PROJECT, id, createdAt: now(), updatedAt: now() });
    return create({ projectId: id, vintage: now().slice(0, 4), type: 'exPost', serialization: null });
  }

  const friendbot = verb('friendbot', (organizationId: string) => {
    organizations.find(organizationId);
    const [first] = credits.rows(projects.named(FRIENDBOT_NUMBER)?.id ?? 'none');
    const amountMicro = FRIENDBOT_MICRO;
    const id = first?.id ?? createFriendbotCredit();
    issueTo(organizationId, 'inventory', id, amountMicro);
    return {
      credits: [inventoryCredit({ organizationId, amountMicro }, findIssued(tables, id))],
      organizationId,
    };
  });

  return {
    /** A new credit for a project, or more of one that exists, into an organization's inventory or warehouse. */
    issue: (body: unknown) => issue(readBody(body, readIssue)),
    /** From the inventory into the warehouse. */
    deposit: (organizationId: string, body: unknown) => move(organizationId, body, 'inventory', 'warehouse'),
    /** And back. */
    withdraw: (organizationId: string, body: unknown) => move(organizationId, body, 'warehouse', 'inventory'),
    retireOffPlatform,
    friendbot,
  };
}

function readIssue(fields: Fields): IssueOrder {
  const creditId = fields.optionalText('creditId');
  const place = fields.optionalText('place', oneOf(['warehouse', 'inventory']));
  const type = fields.optionalText('type', oneOf(['exPost', 'exAnte']));
  return {
    organizationId: fields.text('organizationId'),
    micro: fields.micro('amount'),
    place: place === 'warehouse' ? 'warehouse' : 'inventory',
    creditId,
    projectId: creditId === null ? fields.text('projectId') : '',
    vintage: fields.optionalText('vintage', IS_YEAR) ?? '2024',
    type: type === 'exAnte' ? 'exAnte' : 'exPost',
    serialization: fields.optionalText('serialization', NOT_EMPTY),
  };
}
