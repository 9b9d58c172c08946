import { hashText, isHash, isInstant, runInBatches } from './bytes.js';
import { type JsonObject, type JsonValue, parseCanonicalJson } from './canonical-json.js';
import { assertFolder, EvidenceFault } from './fault.js';

/** The version of the format that this checker reads. */
const FORMAT = 2;
const MAX_COUNT = 1e15;
const MONTH_PATTERN = /^\d{4}-(?:0[1-9]|1[0-2])$/;
const PERIOD_PATTERN = /^\d{4}(?:-(?:0[1-9]|1[0-2]))?$/;
const LIST_NAME_PATTERN = /^[a-z_]{1,50}$/;
const MICRO_PATTERN = /^(?:0|-?[1-9]\d{0,29})$/;
const MAX_LEVEL = 50;
const DOCUMENTS_AT_ONCE = 1000;

const SCOPES = ['period', 'organization', 'retirement'] as const;
/**
 * The origin of the date by which a line counts rows by month: the mirror, which observed the row, or the registry. Each row is
 * counted once by each date.
 */
const DATED_BY = ['mirror', 'registry'] as const;
/** Kinds of leaves that the last leaf of a checkpoint names, because none of them may be left out unnoticed. */
const NAMED_KINDS = ['organization', 'coverage', 'forget', 'purge', 'restore', 'key'] as const;

/** The first line: what the folder is evidence of. */
export interface Header {
  readonly scope: (typeof SCOPES)[number];
  /** The period, or the id of the organization or retirement. */
  readonly value: string;
  /** The tree size of the older checkpoint that the log continues from; null if there is none. */
  readonly since: number | null;
}

/** A leaf of the log that the folder shows with its record. */
export interface Leaf {
  /** The index of the leaf in the log, from 0. */
  readonly leafIndex: number;
  /** 32 bytes in hex. */
  readonly salt: string;
  readonly record: JsonObject;
  /** The record as canonical JSON, over which the commitment was computed. */
  readonly recordJson: string;
  /** True for a current row that the folder is evidence of; false for all other leaves. */
  readonly isRow: boolean;
}

/** A row of which the folder shows only the commitment. It counts in the same month as a shown row. */
export interface HiddenRow {
  /** The index of the leaf of its organization. */
  readonly ownerIndex: number;
  readonly list: string;
  /** The month (YYYY-MM) in which the mirror observed the row version. */
  readonly month: string;
  readonly version: number;
  /** 32 bytes in hex. */
  readonly commitment: string;
}

/** How many rows of a list an organization has in a month, with their sum. The organization's leaf has the hash of this line. */
export interface MonthLine {
  /** The index of the leaf of the organization. */
  readonly ownerIndex: number;
  readonly list: string;
  readonly datedBy: (typeof DATED_BY)[number];
  readonly month: string;
  /** The number of rows. */
  readonly rows: number;
  /** The number of these rows that have no usable amount. */
  readonly withoutAmount: number;
  /** The sum of the amounts in millionths of a tonne. */
  readonly micro: bigint;
  /** SHA-256 of the commitments of all these rows in hex, one on a line, newest version first. */
  readonly commitments: string;
  /** The line with its newline, without the field `months_of`: the text that the leaf has the hash of. */
  readonly hashedText: string;
}

/** When a list of an organization was last read completely. The organization's leaf has the hash of this line. */
export interface LastReadLine {
  /** The index of the leaf of the organization. */
  readonly ownerIndex: number;
  readonly list: string;
  /** When the newest complete read started; null if no complete read is sealed. */
  readonly readAt: string | null;
  /** How many later reads were not complete. */
  readonly failedSince: number;
  /** The line with its newline, without the field `reads_of`: the text that the leaf has the hash of. */
  readonly hashedText: string;
}

/**
 * A line about a leaf that a checkpoint leaf (the last leaf of a checkpoint) names. A checkpoint leaf contains the hash of all lines about
 * the leaves that it names, so that none of these leaves can be omitted unnoticed.
 */
export interface NamedLine {
  /** The index of the named leaf. */
  readonly leafIndex: number;
  readonly commitment: string;
  readonly kind: (typeof NAMED_KINDS)[number];
  /** The index of the checkpoint leaf. */
  readonly namedBy: number;
  /** The line with its newline, without the field `named_by`: the text that the checkpoint leaf has the hash of. */
  readonly hashedText: string;
}

/** A node of the Merkle proof: it cannot be computed from the shown leaves. */
export interface NodeLine {
  /** The level of the tree; leaves have 0. */
  readonly level: number;
  /** The index of the node on its level. */
  readonly index: number;
  /** 32 bytes in hex. */
  readonly hash: string;
}

/** The lines of evidence.jsonl, by kind. */
export interface EvidenceLines {
  readonly header: Header;
  readonly leaves: readonly Leaf[];
  readonly hidden: readonly HiddenRow[];
  readonly months: readonly MonthLine[];
  readonly reads: readonly LastReadLine[];
  readonly named: readonly NamedLine[];
  readonly nodes: readonly NodeLine[];
  /** The registry's JSON by its SHA-256. */
  readonly documents: ReadonlyMap<string, string>;
}

/** The kinds of lines, in the order of the file. Each is called by a field that only lines of this kind have. */
const LINE_KINDS = [
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
type LineKind = (typeof LINE_KINDS)[number];

/** Parses the text of evidence.jsonl. Throws an EvidenceFault for a line that is malformed, duplicate or out of order. */
export async function parseEvidenceLines(text: string): Promise<EvidenceLines> {
  const lines = text.split('\n');
  assertFolder(lines.pop() === '', 'evidence.jsonl does not end with a newline');
  const headers: Header[] = [];
  const found = {
    leaves: new Array<Leaf>(),
    hidden: new Array<HiddenRow>(),
    months: new Array<MonthLine>(),
    reads: new Array<LastReadLine>(),
    named: new Array<NamedLine>(),
    nodes: new Array<NodeLine>(),
  };
  const documents: string[] = [];
  let previous: readonly SortKey[] = [];
  for (const [index, line] of lines.entries()) {
    const where = `line ${index + 1} of evidence.jsonl`;
    const object = parseCanonicalJson(line);
    assertFolder(object !== null, `${where} is not canonical JSON`);
    const kind = LINE_KINDS.find(name => object.has(name));
    assertFolder(kind !== undefined, `${where} is of no known kind`);
    const fields = createFieldReader(object, where);
    const key = [LINE_KINDS.indexOf(kind), ...addLine(kind, fields, line)];
    fields.end();
    if (kind !== 'document' || documents.length === 1)
      assertFolder(compareKeys(previous, key) < 0, `${where} is out of order`);
    previous = key;
  }
  const [header] = headers;
  assertFolder(header !== undefined, 'evidence.jsonl has no line that says what it is evidence of');
  return { header, ...found, documents: await indexDocuments(documents) };

  /**
   * Parses a line of a known kind, and adds the result to the lines of this kind. Returns the values by which lines of this kind are
   * sorted.
   */
  function addLine(kind: LineKind, fields: FieldReader, line: string): SortKey[] {
    switch (kind) {
      case 'format':
        headers.push(parseHeader(fields));
        return [];
      case 'row':
      case 'leaf': {
        const leaf = parseLeaf(fields, line, kind);
        found.leaves.push(leaf);
        return [leaf.leafIndex];
      }
      case 'hidden': {
        const row = parseHiddenRow(fields);
        found.hidden.push(row);
        return [row.ownerIndex, row.list, row.month, row.version];
      }
      case 'months_of': {
        const month = parseMonthLine(fields, line);
        found.months.push(month);
        return [month.ownerIndex, month.list, month.datedBy, month.month];
      }
      case 'reads_of': {
        const reads = parseLastReadLine(fields, line);
        found.reads.push(reads);
        return [reads.ownerIndex, reads.list];
      }
      case 'named_by': {
        const named = parseNamedLine(fields, line);
        found.named.push(named);
        return [named.namedBy, named.leafIndex];
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

// The functions below read the fields of one line, and throw an EvidenceFault if one is missing or malformed.

/** Reads the header line. Throws an EvidenceFault for another version of the format. */
function parseHeader(fields: FieldReader): Header {
  const format = fields.count('format');
  assertFolder(format === FORMAT, `the folder has format ${format}; this checker reads format ${FORMAT}`);
  const scope = fields.oneOf('scope', SCOPES);
  const since = fields.has('since') ? fields.count('since') : null;
  const value = fields.text('value');
  if (scope === 'period')
    assertFolder(PERIOD_PATTERN.test(value), `${fields.where}: the period is malformed`);
  return { scope, value, since };
}

/** Reads a row line or another leaf line. */
function parseLeaf(fields: FieldReader, line: string, name: 'row' | 'leaf'): Leaf {
  const leafIndex = fields.count(name);
  const record = fields.object('record');
  const salt = fields.hash('salt');
  /** The line is canonical, so what stands around the record is known. */
  const [before, after] =
    name === 'row'
      ? ['{"record":', `,"row":${leafIndex},"salt":"${salt}"}`]
      : [`{"leaf":${leafIndex},"record":`, `,"salt":"${salt}"}`];
  const recordJson = line.slice(before.length, line.length - after.length);
  return { leafIndex, salt, record, recordJson, isRow: name === 'row' };
}

/** Reads a line of a hidden row. */
function parseHiddenRow(fields: FieldReader): HiddenRow {
  return {
    commitment: fields.hash('commitment'),
    ownerIndex: fields.count('hidden'),
    list: fields.matching('list', LIST_NAME_PATTERN),
    month: fields.matching('month', MONTH_PATTERN),
    version: fields.count('version'),
  };
}

/** Reads a line with the totals of a month. */
function parseMonthLine(fields: FieldReader, line: string): MonthLine {
  const ownerIndex = fields.count('months_of');
  return {
    ownerIndex,
    commitments: fields.hash('commitments'),
    datedBy: fields.oneOf('dated_by', DATED_BY),
    list: fields.matching('list', LIST_NAME_PATTERN),
    micro: BigInt(fields.matching('micro', MICRO_PATTERN)),
    month: fields.matching('month', MONTH_PATTERN),
    rows: fields.count('rows'),
    withoutAmount: fields.count('without_amount'),
    hashedText: removeField(line, `"months_of":${ownerIndex}`),
  };
}

/** Parses a line that says when a list was last read completely. Throws an EvidenceFault if it is malformed. */
function parseLastReadLine(fields: FieldReader, line: string): LastReadLine {
  const ownerIndex = fields.count('reads_of');
  const readAt = fields.has('read_at') ? fields.take('read_at') : null;
  assertFolder(readAt === null || isInstant(readAt), `${fields.where}: "read_at" is malformed`);
  if (readAt !== null) fields.count('read_leaf');
  return {
    ownerIndex,
    readAt,
    failedSince: fields.count('failed_since'),
    list: fields.matching('list', LIST_NAME_PATTERN),
    hashedText: removeField(line, `"reads_of":${ownerIndex}`),
  };
}

/** Parses a line about a leaf that a checkpoint leaf names. Throws an EvidenceFault if the line is malformed. */
function parseNamedLine(fields: FieldReader, line: string): NamedLine {
  const namedBy = fields.count('named_by');
  return {
    commitment: fields.hash('commitment'),
    kind: fields.oneOf('kind', NAMED_KINDS),
    leafIndex: fields.count('named'),
    namedBy,
    hashedText: removeField(line, `"named_by":${namedBy}`),
  };
}

/** Removes a field from a line of canonical JSON, and appends a newline. The field must not be the first one. */
function removeField(line: string, field: string): string {
  return `${line.replace(`,${field}`, '')}\n`;
}

/** Maps each document by its SHA-256. Throws an EvidenceFault unless the documents are sorted by their SHA-256. */
async function indexDocuments(documents: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const hashes: string[] = [];
  await runInBatches([...documents.keys()], DOCUMENTS_AT_ONCE, async index => {
    hashes[index] = await hashText(documents[index] ?? '');
  });
  for (const [index, hash] of hashes.entries())
    assertFolder(index === 0 || (hashes[index - 1] ?? '') < hash, 'the documents are out of order');
  return new Map(hashes.map((hash, index) => [hash, documents[index] ?? '']));
}

/** A field by which lines are sorted. */
type SortKey = string | number;

/** Compares two sort keys of lines, field by field. Returns a negative number if `left` comes first. */
function compareKeys(left: readonly SortKey[], right: readonly SortKey[]): number {
  for (const [index, key] of right.entries()) {
    const other = left[index];
    if (other === undefined || other < key) return -1;
    if (other > key) return 1;
  }
  return 0;
}

type FieldReader = ReturnType<typeof createFieldReader>;

/**
 * Creates functions that read the fields of a line by name. Each throws an EvidenceFault if the field is missing or malformed.
 * `where` names the line in messages. Call `end` last.
 */
function createFieldReader(object: JsonObject, where: string) {
  const unread = new Set(object.keys());

  /** Returns a field and marks it as read. */
  function take(name: string): JsonValue {
    const value = object.get(name);
    assertFolder(value !== undefined, `${where} has no "${name}"`);
    unread.delete(name);
    return value;
  }

  function throwMalformed(name: string): never {
    throw new EvidenceFault(`${where}: "${name}" is malformed`);
  }

  return {
    where,
    take,
    has: (name: string): boolean => object.has(name),
    isNull: (name: string): boolean => take(name) === null,
    /** Reads a string. */
    text(name: string): string {
      const value = take(name);
      return typeof value === 'string' ? value : throwMalformed(name);
    },
    /** Reads a string that matches a pattern. */
    matching(name: string, pattern: RegExp): string {
      const value = take(name);
      return typeof value === 'string' && pattern.test(value) ? value : throwMalformed(name);
    },
    /** Reads a string that must be one of these values. */
    oneOf<Value extends string>(name: string, values: readonly Value[]): Value {
      const value = take(name);
      return values.find(each => each === value) ?? throwMalformed(name);
    },
    /** Reads 64 lower-case hex digits. */
    hash(name: string): string {
      const value = take(name);
      return isHash(value) ? value : throwMalformed(name);
    },
    /** Reads an integer from 0 up to, but excluding, 10^15. */
    count(name: string): number {
      const value = take(name);
      return Number.isInteger(value) && Number(value) >= 0 && Number(value) < MAX_COUNT
        ? Number(value)
        : throwMalformed(name);
    },
    /** Reads an object. */
    object(name: string): JsonObject {
      const value = take(name);
      return typeof value === 'object' && value !== null ? value : throwMalformed(name);
    },
    /** Throws an EvidenceFault if the line has fields that were not read. */
    end(): void {
      const [name] = unread;
      if (name !== undefined) throw new EvidenceFault(`${where} has an unknown field "${name}"`);
    },
  };
}
