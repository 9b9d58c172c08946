import { toTonnes } from './amounts.js';
import { drawCertificate } from './certificate.js';
import { badRequest, conflict, found, notFound } from '../http/errors.js';
import { type ListAnswer, type PageQuery, type Slice, toPage } from '../http/pages.js';
import type { RetirementData, RetirementRow } from '../store/rows.js';
import { findIssued, retirement } from './shapes.js';
import type { Store } from '../store/store.js';
import { NOT_EMPTY, readFields, refuseFaults } from '../http/validate.js';

interface NewRetirement {
  readonly organizationId: string;
  readonly appId: string | null;
  readonly creditId: string;
  readonly micro: number;
  /** Null for one that was made off-platform and that nobody has claimed. */
  readonly data: RetirementData | null;
}

type RetirementShape = ReturnType<typeof retirement>;

export interface Retirements {
  /** Only verified credits are retired on the public registry's chain. */
  demandRetirable(creditType: string): void;
  /** Part of a verb that has taken the credits from where they stood. */
  record(made: NewRetirement): string;
  /** A beneficiary for an unclaimed retirement, or other words for a claimed one. */
  describe(id: string, body: unknown): RetirementShape;
  list(organizationId: string, query: PageQuery): ListAnswer;
  get(id: string, organizationId?: string): RetirementShape;
  /** Of every organization, the newest first; of an unclaimed one only how much and of what. */
  everywhere(slice: Slice): object;
  /** One, by the `id` of a query. */
  find(id: unknown): RetirementShape;
  certificate(id: string, organizationId?: string): Buffer;
}

export function createRetirements({ tables, newId, now, verb }: Store, asDocumented: boolean): Retirements {
  const { retirements, organizations } = tables;

  function show(row: RetirementRow): RetirementShape {
    return retirement(row, findIssued(tables, row.credit_id), ownerOf(row));
  }

  function ownerOf({ organization_id }: RetirementRow) {
    return found(organizations.get(organization_id), 'Organization');
  }

  function findRow(id: string, organizationId?: string): RetirementRow {
    const row = found(retirements.get(id), 'Retirement');
    if (organizationId !== undefined && row.organization_id !== organizationId)
      throw notFound('Retirement not found');
    return row;
  }

  const describe = verb('describe retirement', (id: string, data: RetirementData) => {
    const row = { ...findRow(id), ...data, is_claimed: true };
    retirements.put(row);
    return show(row);
  });

  return {
    demandRetirable(creditType) {
      if (asDocumented && creditType !== 'exPost')
        throw conflict(`An ${creditType} credit cannot be retired`);
    },
    record({ organizationId, appId, creditId, micro, data }) {
      const id = newId();
      const { full_name: project_name } = findIssued(tables, creditId).issuer;
      const whose = { id, organization_id: organizationId, app_id: appId, credit_id: creditId };
      const words = data ?? { beneficiary: null, reason: null, comment: null };
      const made = { amount_micro: micro, is_claimed: data !== null, project_name, created_at: now() };
      retirements.put({ ...whose, ...words, ...made });
      return id;
    },
    describe: (id, body) => describe(id, readWords(body)),
    list(organizationId, query) {
      const { from, to, pagination } = toPage(retirements.count(organizationId), query);
      return { pagination, retirements: retirements.page(from, to, organizationId).map(show) };
    },
    get: (id, organizationId) => show(findRow(id, organizationId)),
    everywhere({ first, skip }) {
      const to = retirements.count() - skip;
      const rows = retirements.page(to - first + 1, to).map(row => {
        const { amount, project, ...rest } = show(row);
        return row.is_claimed ? { ...rest, amount, project } : { amount, project };
      });
      return { retirements: rows };
    },
    find(id) {
      if (typeof id !== 'string' || id === '') throw badRequest('id is needed');
      return show(findRow(id));
    },
    certificate(id, organizationId) {
      const row = findRow(id, organizationId);
      if (!row.is_claimed) throw notFound('An unclaimed retirement has no certificate');
      const { credit, issuer } = findIssued(tables, row.credit_id);
      return drawCertificate({
        registryName: 'Carbon registry sandbox',
        projectName: row.project_name,
        projectNumber: issuer.num,
        projectCountry: issuer.country_code ?? '',
        serialization: credit.serialization,
        vintage: credit.vintage,
        amount: toTonnes(row.amount_micro),
        beneficiary: row.beneficiary ?? '',
        reason: row.reason ?? '',
        comment: row.comment ?? '',
        retiredAt: row.created_at,
        retirementId: row.id,
        organizationName: ownerOf(row).full_name,
      });
    },
  };
}

function readWords(body: unknown): RetirementData {
  const faults: string[] = [];
  const fields = readFields(body, faults);
  const data = {
    reason: fields.text('reason', NOT_EMPTY),
    beneficiary: fields.text('beneficiary', NOT_EMPTY),
    comment: fields.optionalText('comment'),
  };
  refuseFaults(faults);
  return data;
}
