import { badRequest, conflict, notFound } from '../http/api-errors.js';
import { type PageRequest, paginate, type ListSlice } from '../http/paging.js';
import { NOT_EMPTY, readBody } from '../http/request-body.js';
import type { RetirementRecord, RetirementDetails } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';
import { toTonnes } from './amounts.js';
import { createCertificatePdf } from './certificate-pdf.js';
import { getCreditWithProject, toRetirementJson } from './to-json.js';

type NewRetirement = Omit<RetirementRecord, 'id' | 'projectName' | 'createdAt'>;

export type RetirementService = ReturnType<typeof createRetirementService>;

/** Creates the service that stores and lists retirements and creates PDF certificates. */
export function createRetirementService(
  { tables, newId, now, defineOperation }: SandboxStore,
  asDocumented: boolean,
) {
  const { retirements, organizations } = tables;

  /** Converts a retirement to JSON, including the credit and the organization. */
  function toJson(row: RetirementRecord) {
    return toRetirementJson(
      row,
      getCreditWithProject(tables, row.creditId),
      organizations.getOrThrow(row.organizationId),
    );
  }

  /** Returns a retirement as JSON. Throws a 404 error if it does not exist in the organization. */
  function get(id: string, organizationId?: string) {
    return toJson(retirements.getOrThrow(id, organizationId));
  }

  /** Replaces the beneficiary, reason and comment of a retirement. Claims the retirement if it was unclaimed. */
  const changeDetails = defineOperation('describe retirement', (id: string, details: RetirementDetails) => {
    retirements.put({ ...retirements.getOrThrow(id), details });
    return get(id);
  });

  return {
    /** Throws a 409 error if credits of this type cannot be retired. */
    assertRetirable(creditType: string): void {
      // The profile `as-documented` retires only exPost (verified) credits.
      if (asDocumented && creditType !== 'exPost')
        throw conflict(`An ${creditType} credit cannot be retired`);
    },
    /** Stores a new retirement and returns its JSON. The caller must already have removed the credits from their holding. */
    record(retirement: NewRetirement) {
      const { fullName: projectName } = getCreditWithProject(tables, retirement.creditId).project;
      const row = { ...retirement, id: newId(), projectName, createdAt: now() };
      retirements.put(row);
      return toJson(row);
    },
    /**
     * Replaces the beneficiary, reason and comment of a retirement with those in a request body. An unclaimed retirement becomes
     * claimed.
     */
    changeDetails(id: string, body: unknown) {
      const details = readBody(body, fields => ({
        reason: fields.text('reason', NOT_EMPTY),
        beneficiary: fields.text('beneficiary', NOT_EMPTY),
        comment: fields.optionalText('comment'),
      }));
      return changeDetails(id, details);
    },
    /** Returns one page of an organization's retirements. */
    list(organizationId: string, query: PageRequest) {
      const { pagination, items } = paginate(retirements, query, organizationId);
      return { pagination, retirements: items.map(toJson) };
    },
    get,
    /** Lists up to `limit` retirements of all organizations, newest first. Leaves out the newest `skip` retirements. */
    listOfAllOrganizations({ limit, skip }: ListSlice) {
      const rows = retirements.listNewest(limit, skip).map(row => {
        const { amount, project, ...rest } = toJson(row);
        // A retirement without a beneficiary shows only the amount and the project.
        return row.details === null ? { amount, project } : { ...rest, amount, project };
      });
      return { retirements: rows };
    },
    /** Returns a retirement. Throws a 400 error if the id is not text or is empty, and a 404 error if it is unknown. */
    getByQueryId(id: unknown) {
      if (typeof id !== 'string' || id === '') throw badRequest('id is needed');
      return get(id);
    },
    /** Creates the PDF certificate of a retirement. Throws a 404 error if the retirement is unknown or has no beneficiary yet. */
    renderCertificate(id: string, organizationId?: string): Buffer {
      const { details, ...row } = retirements.getOrThrow(id, organizationId);
      if (details === null) throw notFound('An unclaimed retirement has no certificate');
      const { credit, project } = getCreditWithProject(tables, row.creditId);
      return createCertificatePdf({
        registryName: 'Carbon registry sandbox',
        projectName: row.projectName,
        projectNumber: project.num,
        projectCountry: project.countryCode ?? '',
        serialization: credit.serialization,
        vintage: credit.vintage,
        amount: toTonnes(row.amountMicro),
        beneficiary: details.beneficiary,
        reason: details.reason,
        comment: details.comment ?? '',
        retiredAt: row.createdAt,
        retirementId: row.id,
        organizationName: organizations.getOrThrow(row.organizationId).fullName,
      });
    },
  };
}
