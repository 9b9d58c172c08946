import type { Sqlite } from '../engines/sqlite/open.js';

export interface Named {
  readonly id: string;
  readonly name: string | null;
}

/** SQLite takes what is nested deeper than 1,000 levels for no JSON, and would end the whole query. */
export const INSTALLED_NAME = "iif(json_valid(document), document ->> '$.organization.fullName', NULL)";

/** Every organization of which the mirror holds or held anything, by the latest name that it knows. */
export function readOrganizationNames(db: Sqlite): Named[] {
  return db
    .prepare<[], Named>(
      `WITH known (id) AS (
        SELECT id FROM organizations
        UNION SELECT organization_id FROM installations WHERE organization_id IS NOT NULL
        UNION SELECT organization_id FROM resource_states
      )
      SELECT id, coalesce(
        (SELECT full_name FROM organizations AS o WHERE o.id = known.id),
        (SELECT full_name FROM organizations_past AS p WHERE p.id = known.id ORDER BY valid_to DESC LIMIT 1),
        (SELECT max(${INSTALLED_NAME}) FROM installations AS i WHERE i.organization_id = known.id)
      ) AS name FROM known ORDER BY id`,
    )
    .all();
}

/** Every installation, by the name of its organization. */
export function readInstallationNames(db: Sqlite): Named[] {
  return db
    .prepare<[], Named>(
      `SELECT i.id, coalesce(o.full_name, i.name) AS name
      FROM (SELECT id, organization_id, ${INSTALLED_NAME} AS name FROM installations) AS i
      LEFT JOIN organizations AS o ON o.id = i.organization_id ORDER BY i.id`,
    )
    .all();
}
