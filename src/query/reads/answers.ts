import type { Reader } from '../../store/contract/reader.js';

/** Organizations whose latest answer for one resource had the same status and form, and one of them by name or id. */
export async function readAnswers({ db }: Reader) {
  return await db
    .selectFrom('resource_states as s')
    .leftJoin('organizations as o', 'o.id', 's.organization_id')
    .where('s.last_answer_at', 'is not', null)
    .groupBy(['s.resource', 's.answer_status', 's.answer_form'])
    .select(eb => [
      's.resource',
      eb.ref('s.answer_status').$notNull().as('status'),
      eb.ref('s.answer_form').$notNull().as('form'),
      eb.fn.countAll<number>().as('organizations'),
      eb.fn.max(eb.ref('s.last_answer_at').$notNull()).as('lastAnswerAt'),
      eb.fn.min(eb.fn.coalesce('o.full_name', 's.organization_id')).as('example'),
      eb.fn.count<number>('s.not_offered_at').as('notOffered'),
    ])
    .orderBy('s.resource')
    .orderBy('s.answer_status', order => order.asc().nullsFirst())
    .orderBy('s.answer_form', order => order.asc().nullsFirst())
    .execute();
}
