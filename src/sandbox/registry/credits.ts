import { MAX_MICRO, toTonnes } from './amounts.js';
import { conflict } from '../http/api-errors.js';
import type { RetirementService } from './retirements.js';
import type { CreditRecord, HoldingPlace } from '../store/records.js';
import { getCreditWithProject, toInventoryCreditJson } from './to-json.js';
import type { SandboxStore } from '../store/store.js';
import { type BodyFields, YEAR, NOT_EMPTY, oneOf, readBody, readCreditAmount } from '../http/request-body.js';

/** The amount of the test credit that each call of the friendbot deposits. */
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

/** A credit to create. */
type NewCredit = Pick<CreditRecord, 'projectId' | 'vintage' | 'type'> & {
  readonly serialization: string | null;
};

/** A credit, the amount to issue and the receiving organization. */
interface IssueOrder extends NewCredit {
  readonly organizationId: string;
  /** The amount, in whole millionths of a tonne. */
  readonly micro: number;
  readonly place: HoldingPlace;
  /** The credit to issue more of; null to create a new credit of the project. */
  readonly creditId: string | null;
}

/** Creates the service that issues credits, moves them within an organization, and retires them. */
export function createCreditService(store: SandboxStore, retirements: RetirementService) {
  const { tables, accounts, newId, newHash, now, defineOperation } = store;
  const { credits, projects, organizations } = tables;

  /** Creates a credit with an issued amount of 0 and returns the id of the credit. */
  function createCredit({ projectId, vintage, type, serialization: requested }: NewCredit): string {
    const { num } = projects.getOrThrow(projectId);
    const [last] = credits.listNewest(1);
    const tokenId = String(Number(last?.tokenId ?? 0) + 1);
    const tokenAddress = newHash(40);
    const serialization = requested ?? `ICR-ISL-354-${num}-${tokenId}-R-0-${vintage}`;
    if (credits.getByName(serialization.toUpperCase()) !== undefined)
      throw conflict('A credit with this serialization exists');
    const id = `${type}-${tokenId}-${tokenAddress}`;
    const token = { tokenId, tokenAddress, serialization, vintage, type };
    credits.put({ id, projectId, ...token, issuedMicro: 0, createdAt: now() });
    return id;
  }

  /**
   * Issues an amount of a credit into a warehouse or inventory. Throws a 409 error if the credit's total issued amount would be
   * too large.
   */
  function issueCredits(organizationId: string, place: HoldingPlace, creditId: string, amountMicro: number) {
    const row = credits.getOrThrow(creditId);
    if (row.issuedMicro > MAX_MICRO - amountMicro) throw conflict('No more of this credit can be issued');
    credits.put({ ...row, issuedMicro: row.issuedMicro + amountMicro });
    accounts.addCredits(organizationId, place, creditId, amountMicro);
    return { creditId, organizationId, place, amount: toTonnes(amountMicro) };
  }

  const issue = defineOperation('issue', (order: IssueOrder) => {
    organizations.getOrThrow(order.organizationId);
    const creditId = order.creditId ?? createCredit(order);
    return issueCredits(order.organizationId, order.place, creditId, order.micro);
  });

  /**
   * Reads a credit id and an amount from a request body, and removes this amount of the credit from the organization's warehouse or
   * inventory. Returns the id, the amount and the type of the credit.
   */
  function removeHeldCredits(organizationId: string, body: unknown, from: HoldingPlace) {
    const { creditId, amountMicro } = readBody(body, readCreditAmount);
    organizations.getOrThrow(organizationId);
    const { type } = credits.getOrThrow(creditId);
    accounts.removeCredits(organizationId, from, creditId, amountMicro);
    return { creditId, amountMicro, type };
  }

  const move = defineOperation(
    'move',
    (organizationId: string, body: unknown, from: HoldingPlace, to: HoldingPlace) => {
      const { creditId, amountMicro } = removeHeldCredits(organizationId, body, from);
      accounts.addCredits(organizationId, to, creditId, amountMicro);
      return { creditId, organizationId, place: to, amount: toTonnes(amountMicro) };
    },
  );

  /** Retires credits as if the owner did so outside the registry's platform. The retirement is unclaimed. */
  const retireOffPlatform = defineOperation(
    'retire off platform',
    (organizationId: string, body: unknown) => {
      const { creditId, amountMicro, type } = removeHeldCredits(organizationId, body, 'inventory');
      retirements.assertRetirable(type);
      return retirements.record({ organizationId, appId: null, creditId, amountMicro, details: null });
    },
  );

  /** Creates a project and the credit that the endpoint `friendbot` deposits. Returns the credit's id. */
  function createFriendbotCredit(): string {
    const id = newId();
    projects.put({ ...FRIENDBOT_PROJECT, id, createdAt: now(), updatedAt: now() });
    return createCredit({ projectId: id, vintage: now().slice(0, 4), type: 'exPost', serialization: null });
  }

  /** Deposits test credits into an organization's inventory. */
  const friendbot = defineOperation('friendbot', (organizationId: string) => {
    organizations.getOrThrow(organizationId);
    const project = projects.getByName(FRIENDBOT_NUMBER);
    const [existing] = project === undefined ? [] : credits.list(project.id);
    const id = existing?.id ?? createFriendbotCredit();
    const amountMicro = FRIENDBOT_MICRO;
    issueCredits(organizationId, 'inventory', id, amountMicro);
    return {
      credits: [toInventoryCreditJson({ organizationId, amountMicro }, getCreditWithProject(tables, id))],
      organizationId,
    };
  });

  return {
    /** Issues a new credit of a project, or more of an existing one, into an organization's inventory or warehouse. */
    issue: (body: unknown) => issue(readBody(body, readIssueOrder)),
    /** Moves credits from the inventory into the warehouse. */
    deposit: (organizationId: string, body: unknown) => move(organizationId, body, 'inventory', 'warehouse'),
    /** Moves credits from the warehouse into the inventory. */
    withdraw: (organizationId: string, body: unknown) => move(organizationId, body, 'warehouse', 'inventory'),
    retireOffPlatform,
    friendbot,
  };
}

/** Reads an order to issue credits from a request body. */
function readIssueOrder(fields: BodyFields): IssueOrder {
  const creditId = fields.optionalText('creditId');
  const place = fields.optionalText('place', oneOf(['warehouse', 'inventory']));
  const type = fields.optionalText('type', oneOf(['exPost', 'exAnte']));
  return {
    organizationId: fields.text('organizationId'),
    micro: fields.amountMicro('amount'),
    place: place === 'warehouse' ? 'warehouse' : 'inventory',
    creditId,
    projectId: creditId === null ? fields.text('projectId') : '',
    vintage: fields.optionalText('vintage', YEAR) ?? '2024',
    type: type === 'exAnte' ? 'exAnte' : 'exPost',
    serialization: fields.optionalText('serialization', NOT_EMPTY),
  };
}
