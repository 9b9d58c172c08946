import { BY_PROJECT, sumWarehouses, ownersBy } from '../../query/sums.js';
import type { Reader } from '../../store/contract/reader.js';
import { html, type Html } from '../components/html.js';
import { matrix } from './matrix.js';

interface Of {
  readonly organizationId?: string | null;
  readonly project?: string | null;
}

/** What is available of one organization or one project. */
export async function stock(reader: Reader, { organizationId = null, project = null }: Of): Promise<Html> {
  const sums = await sumWarehouses(reader, ownersBy('=', organizationId), BY_PROJECT);
  const rows = sums.filter(sum => project === null || sum.project_id === project);
  if (rows.length === 0) return html`<p class="card">Nothing of it is available now.</p>`;
  return matrix('Available', rows, { isAll: project !== null });
}
