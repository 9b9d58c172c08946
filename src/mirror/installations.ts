import type { Installation } from '../registry/model.js';
import { instant, text } from './columns.js';
import type { InstallationRow } from './port.js';

export function fieldsOf(installation: Installation): InstallationRow {
  return {
    id: installation.id,
    organization_id: installation.organizationId ?? installation.organization?.id ?? null,
    app_id: text(installation.appId),
    permissions: JSON.stringify(installation.permissions),
    created_at: instant(installation.createdAt),
    updated_at: instant(installation.updatedAt),
    document: installation.document,
  };
}
