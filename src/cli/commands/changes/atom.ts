import { rename, writeFile } from 'node:fs/promises';
import type { Reader } from '../../../engines/contract/reader.js';
import { type ChangesAsked, readChanges } from '../../../query/past/changes.js';
import { cleanText } from '../../../text/clean.js';
import { type Io, say } from '../../io.js';
import { causeOf, type Change, parseChange, wordsOf } from '../../../text/change.js';

const PRIVATE_FILE = 0o600;
const MOST_ENTRIES = 500;
const FEED = 'urn:carbon-mirror:changes';

/** The newest of them, newest first. Whoever reads the file meanwhile has the one before. */
export async function writeAtom(io: Io, reader: Reader, asked: ChangesAsked, file: string): Promise<void> {
  const newest: Change[] = [];
  for await (const row of readChanges(reader, asked)) {
    newest.push(parseChange(row));
    if (newest.length >= 2 * MOST_ENTRIES) newest.splice(0, MOST_ENTRIES);
  }
  const entries = newest.slice(-MOST_ENTRIES).toReversed();
  const written = `${file}.new`;
  await writeFile(written, feed(asked, entries, io.now()), { mode: PRIVATE_FILE });
  await rename(written, file);
  say(io, `Wrote ${entries.length} changes to ${file}.`);
}

function feed({ organizationId }: ChangesAsked, entries: readonly Change[], now: number): string {
  const whose = organizationId ?? 'all';
  const updated = entries[0]?.learnt_at ?? new Date(now).toISOString();
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${FEED}:${encodeURIComponent(whose)}</id>
<title>${xml(`Changes of ${entries[0]?.organization_name ?? whose}`)}</title>
<updated>${updated}</updated>
<author><name>carbon-mirror</name></author>
${entries.map(entry).join('')}</feed>
`;
}

function entry(change: Change): string {
  const name = change.organization_name === null ? '' : `${change.organization_name}: `;
  return `<entry><id>${FEED}:${encodeURIComponent(change.organization_id ?? 'all')}:${change.number}</id>
<title>${xml(`${name}${wordsOf(change)}`)}</title>
<updated>${change.learnt_at}</updated>
<category term="${change.resource}"/>
<content>${xml(`${change.resource} ${change.id} ${change.change}${causeOf(change)}`)}</content></entry>
`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text in which no character stands that XML has no place for. */
function xml(text: string): string {
  return cleanText(text)
    .replace(/[\ufffe\uffff]/g, ' ')
    .replace(/[&<>"]/g, character => ENTITIES[character] ?? '');
}
