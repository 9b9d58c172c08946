import { type Html, html } from '../../../console/components/html.js';
import type { Fact, Version } from '../../../evidence/port.js';

/** For a person who looks at the folder. No script, and nothing from elsewhere. */
export function pageHead(title: string): string {
  const head = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body{font:14px sans-serif;margin:2em}td,th{border:1px solid #999;padding:.3em .5em;text-align:left}table{border-collapse:collapse}</style></head>
<body><h1>${title}</h1>
<p>This page is made for reading and is not checked. <code>rows.txt</code> has the rows that are; README.txt says how, and what is not proven.</p>
<table><tr><th>what<th>dated by the registry<th>observed by the mirror<th>tonnes<th>name<th>beneficiary<th>id<th>as sent</tr>
`;
  return head.text;
}

export function pageRow({ record }: Version): string {
  const cell = (...names: string[]) => names.map(name => record[name]).find(value => value != null) ?? '';
  const links = [
    link(record, 'document_sha256', 'documents', 'json'),
    link(record, 'sha256', 'certificates', 'pdf'),
  ];
  const row = html`<tr><td>${cell('resource')}<td>${cell('created_at')}<td>${cell('valid_from')}<td>${cell('amount_exact')}<td>${cell('full_name', 'project_name')}<td>${cell('beneficiary')}<td>${cell('id', 'credit_id', 'retirement_id')}<td>${links}</tr>
`;
  return row.text;
}

export const PAGE_END = '</table></body></html>\n';

function link(record: Fact['record'], column: string, folder: string, ending: string): Html | null {
  const hash = String(record[column] ?? '');
  return /^[0-9a-f]{64}$/.test(hash) ? html`<a href="${folder}/${hash}.${ending}">${ending}</a> ` : null;
}

/** What stands in the folder, how it is checked, and what that does not show. */
export function readme(title: string, origin: string, size: number, scriptSha256: string): string {
  return `${title}
Log: ${origin}. Checkpoint: ${size} leaves.

How to check
  Take docs/check.sh of carbon-mirror and the key of the log from elsewhere than this folder, then, here:
    sh /your/own/check.sh KEY [OLDER-CHECKPOINT]
  The script in this folder has the SHA-256 ${scriptSha256},
  which stands in docs/security.md of carbon-mirror. Who made this folder may have changed it: compare yours.
  It needs POSIX sh and OpenSSL 3. It ends with 0 where all fits, 1 where something does not, 3 where you named no key.

What is here
  WHAT.txt           what this is evidence of
  rows.txt           each row as it stood at the checkpoint: place in the log, salt, record
  documents/         what the registry sent for each row, by SHA-256
  certificates/      the PDFs, by SHA-256
  context.txt        the syncs that showed the rows, earlier versions, and the leaves that say what is whole
  others.txt         rows of the same month that are not shown, by their commitment alone
  organizations.txt  the leaf of each organization that is known; months/ has its lists and months
  nodes.txt          hashes of the tree that lead from the leaves to the root
  checkpoint.txt     the signed checkpoint
  deliveries.txt     the webhooks that had asked for the syncs; they are not sealed, and not checked
  page.html          the rows for reading; it is not checked

Who may lie, and what helps
  (a) Who writes the database and has no key: nothing that was sealed can be changed unseen.
  (b) The operator, who has the key, can make another log. A signature says who, never when. Only a checkpoint that you
      were given earlier shows that nothing before it was changed. Without one, whoever has the key can have made all
      of this today.
  (c) Who stole the key can do what the operator can.
  (d) Who made this folder can leave nothing out of what it is evidence of, and swap nothing, without the check saying
      so; but the script, the page, this text and the key that come with it may be made up.

What is not proven
  That the registry said it: what is sealed is what the mirror said it observed. The registry signs its webhooks alone,
  by a secret that the mirror has too. What was altered before it was sealed, up to a minute, is sealed as altered.
  Anything between two reads; anything that the app is not allowed to read; people, who are left out of every folder.
  That every organization is a customer of this mirror: only those that installed the app are known.
  Whether somebody asked to be forgotten: what was removed by "forget" and "purge" is counted in the log, and not here.
  What projects, addresses or names mean outside of this registry.
`;
}
