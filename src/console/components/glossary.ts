import { html, type Html } from './html.js';

/** What each kind of job does. */
export const JOB_KIND_MEANINGS: Readonly<Record<string, string>> = {
  installation: 'reads one organization',
  retry: 're-reads the lists whose last read failed',
  reservations: 'reads reservations only',
  certificates: 'downloads certificates only',
  discover: 'looks for new installations',
  tick: 'starts a scheduled round of reads',
  order: 'carries out an order from the console',
};

/** Explains columns whose names are words of carbon-mirror. Help shows them all. */
export const TERMS: Readonly<Record<string, string>> = {
  drift: 'Changes that a scheduled read found although no webhook had announced them.',
  trigger: 'What requested the read: a delivery (webhook), the schedule, the worker itself or a person.',
  part: 'Whether a job reads the data or the certificates of an organization. For each organization, one job of each part runs at a time.',
  kind: `What a job does. ${Object.entries(JOB_KIND_MEANINGS)
    .map(([kind, meaning]) => `${kind}: ${meaning}`)
    .join('; ')}.`,
  verdict: 'Accepted: the webhook is used. Ignored: it is correctly signed, but unusable.',
};

/** Renders a column label. Links the label to the help page if `TERMS` explains the column. */
export function renderTermLabel(column: string, label: string): Html {
  const meaning = TERMS[column];
  if (meaning === undefined) return html`${label}`;
  return html`<a class="term" href="/help#${column}" title="${meaning}">${label}</a>`;
}
