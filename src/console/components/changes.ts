import { type Change, wordsOf } from '../../text/change.js';
import { html, type Html, type Part } from './html.js';
import { table } from './table.js';
import { ago } from './words.js';

const PAGES: Readonly<Record<string, string>> = { retirements: 'retirements', certificates: 'retirements' };

/** What changed, a sentence each, and what had asked for the read that found it. */
export function sentences(caption: string, changes: readonly Change[], now: number): Html | false {
  if (changes.length === 0) return false;
  return table(
    caption,
    [
      { name: 'Observed', cell: change => ago(change.observed_at, now) },
      { name: 'Organization', cell: change => whose(change) },
      { name: 'What', cell: change => linked(change) },
      { name: 'Found by', cell: change => cause(change) },
    ],
    changes,
  );
}

function whose({ organization_id: id, organization_name: name }: Change): Part {
  return id !== null && html`<a href="/organizations/${encodeURIComponent(id)}">${name ?? id}</a>`;
}

function linked(change: Change): Part {
  const page = PAGES[change.resource];
  if (page === undefined) return wordsOf(change);
  return html`<a href="/${page}/${encodeURIComponent(change.row_id)}">${wordsOf(change)}</a>`;
}

function cause({ newest_delivery_id: delivery, trigger, sync_id: sync }: Change): Html {
  if (delivery !== null) return html`<a href="/deliveries/${delivery}">delivery ${delivery}</a>`;
  return html`<a href="/syncs?id=${sync}">sync ${sync}</a>${trigger !== null && ` (${trigger})`}`;
}
