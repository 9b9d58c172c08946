import { hashText, isHash, isInstant, runInBatches } from './bytes.js';
import { type JsonObject, type JsonValue, parseCanonicalJson } from './canonical-json.js';
import { assertFolder, Fault } from './fault.js';

const FORMAT = 2;
const MAX_COUNT = 1e15;
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;
const PERIOD = /^\d{4}(?:-(?:0[1-9]|1[0-2]))?$/;
const LIST_NAME = /^[a-z_]{1,50}$/;
const MICRO = /^(?:0|-?[1-9]\d{0,29})$/;
const MAX_LEVEL = 50;
const DOCUMENTS_AT_ONCE = 1000;

const SCOPES = ['period', 'organization', 'retirement'] as const;
/** Months count rows twice: by the date of the registry, and by the instant when the mirror observed the version. */
const DATED_BY = ['mirror', 'registry'] as const;
/** Kinds of leaves that the last leaf of a checkpoint names, because none of them may be left out unnoticed. */
const NAMED_KINDS = ['organization', 'coverage', 'forget', 'purge', 'restore', 'key'] as const;

/** The scope of a folder. `since` is the size of the older checkpoint that the folder continues, or null. */
export interface Header {
  readonly scope: (typeof SCOPES)[number];
  readonly value: string;
  readonly since: number | null;
}

/** A leaf of the log that the folder shows. */
export interface Leaf {
  /** The index of the leaf in the log, from 0. */
  readonly place: number;
  readonly salt: string;
  readonly record: JsonObject;
  /** The record as it was hashed. */
  readonly text: string;
  /** True for a current row of the scope; false for all other leaves. */
  readonly isRow: boolean;
}

/** A row that counts in the same month as a shown row, of which only the commitment is shown. */
export interface HiddenRow {
  /** The place of the leaf of its organization. */
  readonly place: number;
  readonly list: string;
  /** The month in which the mirror observed it. */
  readonly month: string;
  readonly version: number;
  readonly commitment: string;
}

/** How many rows of a list the leaf of an organization counts in a month, with their exact sum. */
export interface MonthLine {
  /** The place of the leaf of the organization. */
  readonly place: number;
  readonly list: string;
  readonly datedBy: (typeof DATED_BY)[number];
  readonly month: string;
  readonly rows: number;
  readonly withoutAmount: number;
  /** Millionths of a tonne. */
  readonly micro: bigint;
  /** SHA-256 of the commitments of all these rows in hex, one on a line, newest version first. */
  readonly commitments: string;
  readonly sealedText: string;
}

/** When a list of an organization was last read completely, according to the leaf of the organization. */
export interface ReadsLine {
  readonly place: number;
  readonly list: string;
  /** When the newest complete read started; null if no complete read is sealed. */
  readonly readAt: string | null;
  /** How many later reads were not complete. */
  readonly failedSince: number;
  readonly sealedText: string;
}

/** A leaf that the last leaf of a checkpoint names. */
export interface NamedLine {
  readonly place: number;
  readonly commitment: string;
  readonly kind: (typeof NAMED_KINDS)[number];
  /** The place of the last leaf of that checkpoint. */
  readonly namedBy: number;
  readonly sealedText: string;
}

/** A node of the tree to which no shown leaf leads. */
export interface NodeLine {
  readonly level: number;
  readonly index: number;
  readonly hash: string;
}

/** The lines of evidence.jsonl, by kind. */
export interface EvidenceLines {
  readonly header: Header;
  readonly leaves: readonly Leaf[];
  readonly hidden: readonly HiddenRow[];
  readonly months: readonly MonthLine[];
  readonly reads: readonly ReadsLine[];
  readonly named: readonly NamedLine[];
  readonly nodes: readonly NodeLine[];
  /** The registry's JSON by its SHA-256. */
  readonly documents: ReadonlyMap<string, string>;
}

/** The kinds of lines in the order in which they stand, each with a name that only this kind has. */
const KINDS = [
  'format',
  'row',
  'leaf',
  'hidden',
  'months_of',
  'reads_of',
  'named_by',
  'level',
  'document',
] as const;
type LineKind = (typeof KINDS)[number];

/** Parses evidence.jsonl. Throws a Fault for a line that is malformed, out of order or there twice. */
export async function parseEvidenceLines(text: string): Promise<EvidenceLines> {
  const lines = text.split('\n');
  assertFolder(lines.pop() === '', 'evidence.jsonl does not end with a newline');
  const headers: Header[] = [];
  const found = {
    leaves: new Array<Leaf>(),
    hidden: new Array<HiddenRow>(),
    months: new Array<MonthLine>(),
    reads: new Array<ReadsLine>(),
    named: new Array<NamedLine>(),
    nodes: new Array<NodeLine>(),
  };
  const documents: string[] = [];
  let previous: readonly SortKey[] = [];
  for (const [index, line] of lines.entries()) {
    const where = `line ${index + 1} of evidence.jsonl`;
    const object = parseCanonicalJson(line);
    assertFolder(object !== null, `${where} is not canonical JSON`);
    const kind = KINDS.find(name => object.has(name));
    assertFolder(kind !== undefined, `${where} is of no known kind`);
    const fields = createFieldReader(object, where);
    const key = [KINDS.indexOf(kind), ...readLine(kind, fields, line)];
    fields.end();
    if (kind !== 'document' || documents.length === 1)
      assertFolder(compareKeys(previous, key) < 0, `${where} is out of order`);
    previous = key;
  }
  const [header] = headers;
  assertFolder(header !== undefined, 'evidence.jsonl has no line that says what it is evidence of');
  return { header, ...found, documents: await indexDocuments(documents) };

  /** Reads a line of one kind, and returns what lines of this kind are sorted by. */
  function readLine(kind: LineKind, fields: FieldReader, line: string): SortKey[] {
    switch (kind) {
      case 'format':
        headers.push(readHeader(fields));
        return [];
      case 'row':
      case 'leaf': {
        const leaf = readLeaf(fields, line, kind);
        found.leaves.push(leaf);
        return [leaf.place];
      }
      case 'hidden': {
        const row = readHiddenRow(fields);
        found.hidden.push(row);
        return [row.place, row.list, row.month, row.version];
      }
      case 'months_of': {
        const month = readMonth(fields, line);
        found.months.push(month);
        return [month.place, month.list, month.datedBy, month.month];
      }
      case 'reads_of': {
        const reads = readReads(fields, line);
        found.reads.push(reads);
        return [reads.place, reads.list];
      }
      case 'named_by': {
        const named = readNamed(fields, line);
        found.named.push(named);
        return [named.namedBy, named.place];
      }
      case 'level': {
        const node = {
          hash: fields.hash('hash'),
          index: fields.count('index'),
          level: fields.count('level'),
        };
        assertFolder(node.level <= MAX_LEVEL, `${fields.where}: the level is too large`);
        found.nodes.push(node);
        return [node.level, node.index];
      }
      case 'document':
        documents.push(fields.text('document'));
        return [];
      default:
        return kind satisfies never;
    }
  }
}

function readHeader(fields: FieldReader): Header {
  const format = fields.count('format');
  assertFolder(format === FORMAT, `the folder has format ${format}; this checker reads format ${FORMAT}`);
  const scope = fields.oneOf('scope', SCOPES);
  const since = fields.has('since') ? fields.count('since') : null;
  const value = fields.text('value');
  if (scope === 'period') assertFolder(PERIOD.test(value), `${fields.where}: the period is malformed`);
  return { scope, value, since };
}

function readLeaf(fields: FieldReader, line: string, name: 'row' | 'leaf'): Leaf {
  const place = fields.count(name);
  const record = fields.object('record');
  const salt = fields.hash('salt');
  /** The line is canonical, so what stands around the record is known. */
  const [before, after] =
    name === 'row'
      ? ['{"record":', `,"row":${place},"salt":"${salt}"}`]
      : [`{"leaf":${place},"record":`, `,"salt":"${salt}"}`];
  const text = line.slice(before.length, line.length - after.length);
  return { place, salt, record, text, isRow: name === 'row' };
}

function readHiddenRow(fields: FieldReader): HiddenRow {
  return {
    commitment: fields.hash('commitment'),
    place: fields.count('hidden'),
    list: fields.matching('list', LIST_NAME),
    month: fields.matching('month', MONTH),
    version: fields.count('version'),
  };
}

function readMonth(fields: FieldReader, line: string): MonthLine {
  const place = fields.count('months_of');
  return {
    place,
    commitments: fields.hash('commitments'),
    datedBy: fields.oneOf('dated_by', DATED_BY),
    list: fields.matching('list', LIST_NAME),
    micro: BigInt(fields.matching('micro', MICRO)),
    month: fields.matching('month', MONTH),
    rows: fields.count('rows'),
    withoutAmount: fields.count('without_amount'),
    sealedText: removeField(line, `"months_of":${place}`),
  };
}

function readReads(fields: FieldReader, line: string): ReadsLine {
  const place = fields.count('reads_of');
  const readAt = fields.has('read_at') ? fields.take('read_at') : null;
  assertFolder(readAt === null || isInstant(readAt), `${fields.where}: "read_at" is malformed`);
  if (readAt !== null) fields.count('read_leaf');
  return {
    place,
    readAt,
    failedSince: fields.count('failed_since'),
    list: fields.matching('list', LIST_NAME),
    sealedText: removeField(line, `"reads_of":${place}`),
  };
}

function readNamed(fields: FieldReader, line: string): NamedLine {
  const namedBy = fields.count('named_by');
  return {
    commitment: fields.hash('commitment'),
    kind: fields.oneOf('kind', NAMED_KINDS),
    place: fields.count('named'),
    namedBy,
    sealedText: removeField(line, `"named_by":${namedBy}`),
  };
}

/** Removes a field from a line of canonical JSON in which it is not the first one. Returns a line with its newline. */
function removeField(line: string, field: string): string {
  return `${line.replace(`,${field}`, '')}\n`;
}

/** Indexes documents by their SHA-256, in whose order they must stand. */
async function indexDocuments(documents: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const hashes: string[] = [];
  await runInBatches([...documents.keys()], DOCUMENTS_AT_ONCE, async index => {
    hashes[index] = await hashText(documents[index] ?? '');
  });
  for (const [index, hash] of hashes.entries())
    assertFolder(index === 0 || (hashes[index - 1] ?? '') < hash, 'the documents are out of order');
  return new Map(hashes.map((hash, index) => [hash, documents[index] ?? '']));
}

type SortKey = string | number;

/** Compares two lists of keys of the same kinds of values. */
function compareKeys(left: readonly SortKey[], right: readonly SortKey[]): number {
  for (const [index, key] of right.entries()) {
    const other = left[index];
    if (other === undefined || other < key) return -1;
    if (other > key) return 1;
  }
  return 0;
}

type FieldReader = ReturnType<typeof createFieldReader>;

/** Creates functions that read the fields of a line. Each throws a Fault if the field is missing or malformed. */
function createFieldReader(object: JsonObject, where: string) {
  const unread = new Set(object.keys());

  function take(name: string): JsonValue {
    const value = object.get(name);
    assertFolder(value !== undefined, `${where} has no "${name}"`);
    unread.delete(name);
    return value;
  }

  function fail(name: string): never {
    throw new Fault(`${where}: "${name}" is malformed`);
  }

  return {
    where,
    take,
    has: (name: string): boolean => object.has(name),
    isNull: (name: string): boolean => take(name) === null,
    text(name: string): string {
      const value = take(name);
      return typeof value === 'string' ? value : fail(name);
    },
    matching(name: string, form: RegExp): string {
      const value = take(name);
      return typeof value === 'string' && form.test(value) ? value : fail(name);
    },
    oneOf<Value extends string>(name: string, values: readonly Value[]): Value {
      const value = take(name);
      return values.find(each => each === value) ?? fail(name);
    },
    hash(name: string): string {
      const value = take(name);
      return isHash(value) ? value : fail(name);
    },
    /** Reads a whole number from 0. */
    count(name: string): number {
      const value = take(name);
      return Number.isInteger(value) && Number(value) >= 0 && Number(value) < MAX_COUNT
        ? Number(value)
        : fail(name);
    },
    object(name: string): JsonObject {
      const value = take(name);
      return typeof value === 'object' && value !== null ? value : fail(name);
    },
    /** Throws a Fault if the line has fields that were not read. */
    end(): void {
      const [name] = unread;
      if (name !== undefined) throw new Fault(`${where} has an unknown field "${name}"`);
    },
  };
}
