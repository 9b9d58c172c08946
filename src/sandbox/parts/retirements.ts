import { toTonnes } from './amounts.js';
import { drawCertificate } from '../certificate/certificate.js';
import { badRequest, conflict, found, notFound } from '../http/errors.js';
import { type ListAnswer, type PageQuery, type Slice, toPage } from '../http/pages.js';
import type { RetirementRow } from '../store/schema.js';
import { type CreditColumns, retirement } from './shapes.js';
import type { Store } from '../store/store.js';
import { NOT_EMPTY, readFields, refuseFaults } from '../http/validate.js';

export interface RetirementData {
  readonly reason: string;
  readonly beneficiary: string;
  readonly comment: string | null;
}

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
  /** Part of a transaction that has taken the credits from where they stood. */
  record(made: NewRetirement, now: string): string;
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

interface FullRow extends RetirementRow, CreditColumns {
  organization_name: string;
  logo: string | null;
  project_name: string;
  certificate_project_name: string;
  project_country: string | null;
}

const FULL_ROWS = `
  select r.*, r.project_name as certificate_project_name, o.full_name as organization_name, o.logo,
         c.token_id, c.token_address, c.serialization, c.vintage, c.type, c.project_id,
         p.full_name as project_name, p.num as project_num, p.country_code as project_country
  from retirements r
  join organizations o on o.id = r.organization_id
  join credits c on c.id = r.credit_id
  join projects p on p.id = c.project_id`;

export function createRetirements({ db, newId, write }: Store, asDocumented: boolean): Retirements {
  const count = db
    .prepare<[string], number>('select retirement_count from organizations where id = ?')
    .pluck();
  const nextOrdinal = db
    .prepare<[string], number>(
      'update organizations set retirement_count = retirement_count + 1 where id = ? returning retirement_count',
    )
    .pluck();
  const insert = db.prepare<[object]>(
    `insert into retirements (id, organization_id, ordinal, app_id, credit_id, amount_micro, is_claimed,
                              beneficiary, reason, comment, project_name, created_at)
     select @id, @organizationId, @ordinal, @appId, c.id, @micro, @isClaimed,
            @beneficiary, @reason, @comment, p.full_name, @now
     from credits c join projects p on p.id = c.project_id where c.id = @creditId`,
  );
  const page = db.prepare<[string, number, number], FullRow>(
    `${FULL_ROWS} where r.organization_id = ? and r.ordinal between ? and ? order by r.ordinal desc`,
  );
  const one = db.prepare<[string], FullRow>(`${FULL_ROWS} where r.id = ?`);
  const newest = db.prepare<[number, number], FullRow>(
    `${FULL_ROWS} where r.rowid in (select rowid from retirements order by rowid desc limit ? offset ?)
     order by r.rowid desc`,
  );
  const claim = db.prepare<[string, string, string | null, string]>(
    'update retirements set is_claimed = 1, beneficiary = ?, reason = ?, comment = ? where id = ?',
  );

  function record({ organizationId, appId, creditId, micro, data }: NewRetirement, now: string): string {
    const id = newId();
    const ordinal = nextOrdinal.get(organizationId);
    const words = data ?? { beneficiary: null, reason: null, comment: null };
    const isClaimed = data === null ? 0 : 1;
    insert.run({ id, organizationId, ordinal, appId, creditId, micro, isClaimed, ...words, now });
    return id;
  }

  function findRow(id: string, organizationId?: string): FullRow {
    const row = found(one.get(id), 'Retirement');
    if (organizationId !== undefined && row.organization_id !== organizationId) {
      throw notFound('Retirement not found');
    }
    return row;
  }

  function demandRetirable(creditType: string): void {
    if (asDocumented && creditType !== 'exPost') throw conflict(`An ${creditType} credit cannot be retired`);
  }

  return {
    demandRetirable,
    record,
    describe(id, body) {
      const data = readWords(body);
      write(() => claim.run(data.beneficiary, data.reason, data.comment, findRow(id).id));
      return retirement(findRow(id));
    },
    list(organizationId, query) {
      const { from, to, pagination } = toPage(count.get(organizationId) ?? 0, query);
      const retirements = page.all(organizationId, from, to).map(retirement);
      return { pagination, retirements };
    },
    get: (id, organizationId) => retirement(findRow(id, organizationId)),
    everywhere: ({ first, skip }) => ({
      retirements: newest.all(first, skip).map(row => {
        const shown = retirement(row);
        return row.is_claimed === 1 ? shown : { amount: shown.amount, project: shown.project };
      }),
    }),
    find(id) {
      if (typeof id !== 'string' || id === '') throw badRequest('id is needed');
      return retirement(findRow(id));
    },
    certificate(id, organizationId) {
      const row = findRow(id, organizationId);
      if (row.is_claimed === 0) throw notFound('An unclaimed retirement has no certificate');
      return drawCertificate({
        registryName: 'Carbon registry sandbox',
        projectName: row.certificate_project_name,
        projectNumber: row.project_num,
        projectCountry: row.project_country ?? '',
        serialization: row.serialization,
        vintage: row.vintage,
        amount: toTonnes(row.amount_micro),
        beneficiary: row.beneficiary ?? '',
        reason: row.reason ?? '',
        comment: row.comment ?? '',
        retiredAt: row.created_at,
        retirementId: row.id,
        organizationName: row.organization_name,
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
