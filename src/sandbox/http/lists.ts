import type { Request, Response } from 'express';
import { bendOf } from '../trouble/bent-lists.js';
import type { ListAnswer } from './pages.js';
import { type PageQuery, readPageQuery } from './validate.js';

/** Answers one page of a list, bent where a fault asks for it. */
export function answerPage(
  req: Request,
  res: Response,
  read: (query: PageQuery, hidden: number) => ListAnswer,
): void {
  const asked = readPageQuery(req.query);
  const { hidden, mostRows, loops } = bendOf(res);
  const query = { limit: Math.min(asked.limit, mostRows), page: loops ? 0 : asked.page };
  const answer = read(query, hidden);
  const { page } = asked;
  const turned = loops ? { currentPage: page, nextPage: page + 1, prevPage: page > 0 ? page - 1 : null } : {};
  res.json({ ...answer, pagination: { ...answer.pagination, ...turned } });
}
