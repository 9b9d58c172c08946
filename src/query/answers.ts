import type { Sqlite } from '../engines/sqlite/open.js';

/** Organizations whose latest answer for one resource had the same status and form. */
export interface AnswerGroup {
  readonly resource: string;
  readonly status: number;
  readonly form: string;
  readonly organizations: number;
  readonly answeredAt: string;
  /** One of them, by name or id. */
  readonly example: string;
  readonly notOffered: number;
}

export function readAnswers(db: Sqlite): AnswerGroup[] {
  return db
    .prepare<[], AnswerGroup>(
      `SELECT s.resource, s.answer_status AS status, s.answer_form AS form, count(*) AS organizations,
         max(s.answered_at) AS answeredAt, min(coalesce(o.full_name, s.organization_id)) AS example,
         count(s.not_offered_at) AS notOffered
       FROM resource_states AS s LEFT JOIN organizations AS o ON o.id = s.organization_id
       WHERE s.answered_at IS NOT NULL
       GROUP BY s.resource, s.answer_status, s.answer_form ORDER BY s.resource, s.answer_status`,
    )
    .all();
}
