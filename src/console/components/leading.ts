import type { Value } from '../../store/contract/tables.js';
import { withAt } from './as-of.js';
import { html, type Html } from './html.js';

/** Where there is more about what a column names. */
const LEADS: Readonly<Record<string, string>> = {
  organization_id: '/organizations/',
  installation_id: '/installations?id=',
  project_id: '/projects/',
  retirement_id: '/retirements/',
  newest_delivery_id: '/deliveries/',
  job_id: '/jobs/',
  merged_into: '/jobs/',
};

/** Leads from a value to the page of what it names, as of the same instant. */
export function leading(column: string, value: Value | undefined, content: Html, at: string | null): Html {
  const path = LEADS[column];
  if (path === undefined || value === '' || (typeof value !== 'string' && typeof value !== 'number'))
    return content;
  return html`<a href="${withAt(`${path}${encodeURIComponent(value)}`, at)}">${content}</a>`;
}
