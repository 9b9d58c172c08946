import { constants, inflateSync } from 'node:zlib';

/** What makes a viewer do something, or carries another file. `Encrypt` hides what there is. */
const ACTIVE: readonly string[] = [
  'AA',
  'EF',
  'EmbeddedFile',
  'EmbeddedFiles',
  'Encrypt',
  'ImportData',
  'JS',
  'JavaScript',
  'Launch',
  'OpenAction',
  'RichMedia',
  'SubmitForm',
  'XFA',
];
export const NOT_LOOKED_INTO = 'compressed objects that cannot be read here';

const NAME = /\/((?:[A-Za-z]|#[0-9a-fA-F]{2}){2,13})(?=[\0\t\n\f\r ()<>[\]{}/%]|$)/g;
const STREAM = /(?<!end)stream(?: *\r?\n|\r)/g;
const ONLY_A_PLACE = /^\s*(?:\[|<<\s*(?:\/Type\s*\/Action\s*)?\/S\s*\/GoTo\b)/;
const HEADER_CHARACTERS = 4_096;
const VALUE_CHARACTERS = 200;
const MOST_STREAMS = 10_000;
const MOST_REFERENCES = 20;
const MOST_INFLATED_BYTES = 64 * 1024 * 1024;

/**
 * Names of active content in a PDF, in whatever spelling, also in compressed streams of objects. Text that only looks
 * like a name counts too: whoever reads by another table than ours would find it there.
 */
export function findActiveContent(pdf: Buffer): string[] {
  const text = pdf.toString('latin1');
  const bodies = findBodies(text);
  const objects = bodies.filter(({ header }) => /\/ObjStm\b/.test(header));
  const found = new Set(activeIn(text, bodies));
  if (countNamed(text, 'ObjStm') > objects.length) found.add(NOT_LOOKED_INTO);
  let left = MOST_INFLATED_BYTES;
  for (const { header, from } of objects) {
    const inflated = isPlainlyDeflated(header) ? inflate(pdf.subarray(from), left) : null;
    if (inflated === null) found.add(NOT_LOOKED_INTO);
    left -= inflated?.length ?? 0;
    for (const name of activeIn(inflated?.toString('latin1') ?? '', [])) found.add(name);
  }
  return Array.from(found).toSorted();
}

/** What a filter has made of something else. */
interface Body {
  /** The dictionary before it, its names spelled out. */
  readonly header: string;
  readonly from: number;
  readonly to: number;
}

function findBodies(text: string): Body[] {
  const bodies: Body[] = [];
  let looks = 0;
  let to = 0;
  for (const match of text.matchAll(STREAM)) {
    if (looks === MOST_STREAMS) break;
    looks += 1;
    const before = text.slice(Math.max(0, match.index - HEADER_CHARACTERS), match.index);
    const header = spellOut(before.slice(before.lastIndexOf(' obj') + 1));
    const from = match.index + match[0].length;
    if (to < from) to = endOf(text, from);
    if (/\/Filter\b/.test(header)) bodies.push({ header, from, to });
  }
  return bodies;
}

function endOf(text: string, from: number): number {
  const end = text.indexOf('endstream', from);
  return end < 0 ? text.length : end;
}

/** Two letters stand among filtered bytes by chance, and are no name there; eight do not. */
function* activeIn(text: string, bodies: readonly Body[]): Generator<string> {
  let next = 0;
  let references = 0;
  for (const { name, at, end } of namesIn(text)) {
    while ((bodies[next]?.to ?? Infinity) < at) next += 1;
    const isFiltered = at >= (bodies[next]?.from ?? Infinity);
    if (!ACTIVE.includes(name) || (name.length === 2 && isFiltered)) continue;
    if (name === 'OpenAction') references += 1;
    if (name !== 'OpenAction' || references > MOST_REFERENCES || isAction(text, end)) yield name;
  }
}

function countNamed(text: string, wanted: string): number {
  let count = 0;
  for (const { name } of namesIn(text)) count += name === wanted ? 1 : 0;
  return count;
}

function* namesIn(text: string): Generator<{ name: string; at: number; end: number }> {
  for (const { 0: all, 1: name = '', index } of text.matchAll(NAME)) {
    yield { name: spellOut(name), at: index, end: index + all.length };
  }
}

function spellOut(text: string): string {
  return text.replaceAll(/#([0-9a-fA-F]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** A document may open at a place, which does nothing: an array, or an action that only goes there. */
function isAction(text: string, end: number): boolean {
  const value = text.slice(end, end + VALUE_CHARACTERS);
  const [, object] = /^\s*(\d+)\s+\d+\s+R\b/.exec(value) ?? [];
  if (object === undefined) return !ONLY_A_PLACE.test(value);
  const heads = Array.from(text.matchAll(new RegExp(`(?<!\\d)${object}\\s+\\d+\\s+obj`, 'g')));
  const values = heads.map(({ 0: head, index }) => text.slice(index + head.length, index + VALUE_CHARACTERS));
  return values.length === 0 || values.some(each => !ONLY_A_PLACE.test(each));
}

function isPlainlyDeflated(header: string): boolean {
  return (
    /\/Filter\s*\[?\s*\/FlateDecode\s*[\]/>]/.test(header) && !/\/(?:DecodeParms|DP|Predictor)\b/.test(header)
  );
}

function inflate(bytes: Buffer, maxOutputLength: number): Buffer | null {
  if (maxOutputLength < 1) return null;
  try {
    return inflateSync(bytes, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return null;
  }
}
