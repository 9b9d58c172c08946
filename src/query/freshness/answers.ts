import type { Reader } from '../../store/contract/reader.js';
import { sql } from '../sql.js';

export interface Answer {
  readonly resource: string;
  readonly status: number;
  readonly form: string;
  readonly organizations: number;
  readonly last_answer_at: string;
  readonly example: string;
  readonly not_offered: number;
}

/** Organizations whose latest answer for one resource had the same status and form, and one of them by name or id. */
export async function readAnswers({ all }: Reader) {
  return await all(sql<Answer>`SELECT s.resource, s.answer_status AS status, s.answer_form AS form,
      count(*) AS organizations, max(s.last_answer_at) AS last_answer_at,
      min(coalesce(o.full_name, s.organization_id)) AS example, count(s.not_offered_at) AS not_offered
    FROM mirror.resource_states AS s LEFT JOIN mirror.organizations AS o ON o.id = s.organization_id
    WHERE s.last_answer_at IS NOT NULL GROUP BY s.resource, s.answer_status, s.answer_form
    ORDER BY s.resource, s.answer_status NULLS FIRST, s.answer_form NULLS FIRST`);
}
