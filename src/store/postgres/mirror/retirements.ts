import { CERTIFICATES } from '../../../resources/certificates.js';
import { given, SYNC } from './perform.js';
import { listed, names } from './versions.js';

/** A retirement that is gone takes its certificate to the past. It may have come after the answer without the retirement. */
export const RETIREMENT_VANISHES = `,
  certificates_gone AS (
    DELETE FROM mirror.certificates AS t USING closed AS c
    WHERE t.organization_id = c.organization_id AND t.retirement_id = c.id
    RETURNING t.*, c.at, c.number + ${given('closing', 'bigint')} AS number
  ),
  certificates_archived AS (
    INSERT INTO mirror.certificates_past (${names(CERTIFICATES)}, valid_to, closed_by, closed_version)
    SELECT ${listed(CERTIFICATES, 'g')}, greatest(g.at, g.valid_from + interval '1 millisecond'),
      ${SYNC}, g.number
    FROM certificates_gone AS g WHERE g.state = 'stored'
  )`;
