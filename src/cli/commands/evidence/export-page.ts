import { type Html, html } from '../../../console/components/html.js';
import type { Observation } from '../../../evidence/port.js';
import { formatTonnes } from '../../../text/tonnes.js';

/** Renders the beginning of the HTML file page.html, up to its table of exported rows. */
export function renderPageHead(title: string): string {
  const head = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body{font:14px sans-serif;margin:2em}td,th{border:1px solid #999;padding:.3em .5em;text-align:left}table{border-collapse:collapse}</style></head>
<body><h1>${title}</h1>
<p>This page is for reading only and is not verified. <code>rows.txt</code> has the verified rows; README.txt explains how to verify them, and what they do not prove.</p>
<table><tr><th>what<th>dated by the registry<th>this version observed<th>tonnes<th>name<th>organization<th>beneficiary<th>id<th>by sync<th>in place of version<th>as sent</tr>
`;
  return head.text;
}

/** Names of organizations by id. */
export type OrganizationNames = ReadonlyMap<string | null, string | null>;

/** Renders an exported row as a table row of page.html with links to its files. */
export function renderExportedRow(
  { record, subject: organizationId }: Observation,
  names: OrganizationNames,
): string {
  const cell = (...columns: string[]) => columns.map(name => record[name]).find(value => value != null) ?? '';
  const links = [
    renderHashLink(record, 'document_sha256', 'documents', 'json'),
    renderHashLink(record, 'sha256', 'certificates', 'pdf'),
  ];
  const row = html`<tr><td>${cell('resource')}<td>${cell('created_at')}<td>${cell('valid_from')}<td>${cell('amount_exact')}<td>${cell('full_name', 'project_name')}<td>${names.get(organizationId) ?? organizationId}<td>${cell('beneficiary')}<td>${cell('id', 'credit_id', 'retirement_id')}<td>${cell('sync_id')}<td>${cell('ended_version')}<td>${links}</tr>
`;
  return row.text;
}

/** Counts exported rows with `add`, and renders the totals of page.html with `end`. */
export function createPageTotals(names: OrganizationNames) {
  const totals = new Map<string, { rows: number; micro: bigint | null; readonly example: Observation }>();
  return {
    add: (fact: Observation): void => {
      const key = JSON.stringify([fact.subject, fact.resource, fact.record['type']]);
      const sum = totals.get(key) ?? { rows: 0, micro: null, example: fact };
      const micro = fact.micro === null ? sum.micro : (sum.micro ?? 0n) + BigInt(fact.micro);
      totals.set(key, { ...sum, rows: sum.rows + 1, micro });
    },
    end: (): string =>
      html`</table>
<h2>Totals</h2>
<table><tr><th>organization<th>what<th>type<th>rows<th>tonnes</tr>
${[...totals.values()].map(
  ({
    rows,
    micro,
    example: { subject, resource, record },
  }) => html`<tr><td>${names.get(subject) ?? subject}<td>${resource}<td>${record['type']}<td>${rows}<td>${micro !== null && formatTonnes(micro)}</tr>
`,
)}</table></body></html>
`.text,
  };
}

/** Renders a link such as `documents/HASH.json`, or returns null if the row has no hash. */
function renderHashLink(
  record: Observation['record'],
  column: string,
  folder: string,
  ending: string,
): Html | null {
  const hash = String(record[column] ?? '');
  return /^[0-9a-f]{64}$/.test(hash) ? html`<a href="${folder}/${hash}.${ending}">${ending}</a> ` : null;
}
