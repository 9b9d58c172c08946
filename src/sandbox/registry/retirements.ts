import { badRequest, conflict, notFound } from '../http/errors.js';
import { type PageQuery, pageOf, type Slice } from '../http/pages.js';
import { NOT_EMPTY, readBody } from '../http/validate.js';
import type { RetirementRow, RetirementWords } from '../store/rows.js';
import type { Store } from '../store/store.js';
import { toTonnes } from './amounts.js';
import { drawCertificate } from './certificate.js';
import { findIssued, retirement } from './shapes.js';

export type Retirements = ReturnType<typeof createRetirements>;

export function createRetirements({ tables, newId, now, verb }: Store, asDocumented: boolean) {
  const { retirements, organizations } = tables;

  function show(row: RetirementRow) {
    return retirement(row, findIssued(tables, row.creditId), organizations.find(row.organizationId));
  }

  function get(id: string, organizationId?: string) {
    return show(retirements.find(id, organizationId));
  }

  /** A beneficiary for an unclaimed retirement, or other words for a claimed one. */
  const describe = verb('describe retirement', (id: string, words: RetirementWords) => {
    retirements.put({ ...retirements.find(id), words });
    return get(id);
  });

  return {
    /** Only verified credits are retired on the public registry's chain. */
    demandRetirable(creditType: string): void {
      if (asDocumented && creditType !== 'exPost')
        throw conflict(`An ${creditType} credit cannot be retired`);
    },
    /** Part of a verb that has taken the credits from where they stood. */
    record(made: Omit<RetirementRow, 'id' | 'projectName' | 'createdAt'>) {
      const { fullName: projectName } = findIssued(tables, made.creditId).issuer;
      const row = { ...made, id: newId(), projectName, createdAt: now() };
      retirements.put(row);
      return show(row);
    },
    describe(id: string, body: unknown) {
      const words = readBody(body, fields => ({
        reason: fields.text('reason', NOT_EMPTY),
        beneficiary: fields.text('beneficiary', NOT_EMPTY),
        comment: fields.optionalText('comment'),
      }));
      return describe(id, words);
    },
    list(organizationId: string, query: PageQuery) {
      const { pagination, items } = pageOf(retirements, query, organizationId);
      return { pagination, retirements: items.map(show) };
    },
    get,
    /** Of every organization, the newest first; of an unclaimed one only how much and of what. */
    everywhere({ first, skip }: Slice) {
      const rows = retirements.newest(first, skip).map(row => {
        const { amount, project, ...rest } = show(row);
        return row.words === null ? { amount, project } : { ...rest, amount, project };
      });
      return { retirements: rows };
    },
    /** One, by the `id` of a query. */
    find(id: unknown) {
      if (typeof id !== 'string' || id === '') throw badRequest('id is needed');
      return get(id);
    },
    certificate(id: string, organizationId?: string): Buffer {
      const { words, ...row } = retirements.find(id, organizationId);
      if (words === null) throw notFound('An unclaimed retirement has no certificate');
      const { credit, issuer } = findIssued(tables, row.creditId);
      return drawCertificate({
        registryName: 'Carbon registry sandbox',
        projectName: row.projectName,
        projectNumber: issuer.num,
        projectCountry: issuer.countryCode ?? '',
        serialization: credit.serialization,
        vintage: credit.vintage,
        amount: toTonnes(row.amountMicro),
        beneficiary: words.beneficiary,
        reason: words.reason,
        comment: words.comment ?? '',
        retiredAt: row.createdAt,
        retirementId: row.id,
        organizationName: organizations.find(row.organizationId).fullName,
      });
    },
  };
}
