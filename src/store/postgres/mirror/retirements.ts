import { CERTIFICATES } from '../../../resources/certificates.js';
import { given } from './perform.js';
import { archived } from './versions.js';

const ENDS = {
  at: "greatest(v.at, v.valid_from + interval '1 millisecond')",
  number: 'v.number',
  isRemoved: '1',
};

/** A retirement that is gone takes its certificate to the past. It may have come after the answer without the retirement. */
export const RETIREMENT_VANISHES = `,
  certificates_gone AS (
    DELETE FROM mirror.certificates AS t USING closed AS c
    WHERE t.organization_id = c.organization_id AND t.retirement_id = c.id
    RETURNING t.*, c.at, c.number + ${given('closing', 'bigint')} AS number
  ),
  certificates_archived AS (
    ${archived(CERTIFICATES, ENDS, "FROM certificates_gone AS v WHERE v.state = 'stored'")}
  )`;
