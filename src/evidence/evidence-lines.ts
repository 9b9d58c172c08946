import { hash } from 'node:crypto';
import { MAX_TEXT_BYTES } from './checker/folder-files.js';
import { toCanonicalJson } from './leaf.js';
import { throwEvidenceError } from './evidence-error.js';
import { toHex } from './hashes.js';
import type { LeafRecord, Leaf } from './port.js';

/** A field by which lines of the same kind are sorted. */
type SortKey = string | number;

/** The kinds of lines in evidence.jsonl, in the order of the file. */
const LINE_KINDS = [
  'header',
  'row',
  'leaf',
  'hidden',
  'months',
  'reads',
  'named',
  'node',
  'document',
] as const;
type LineKind = (typeof LINE_KINDS)[number];

/**
 * Creates a collector for the lines of evidence.jsonl. Lines may be added in any order. Adding a line throws an EvidenceError if the file
 * would have more than `maxBytes`: a checker need not read larger files.
 */
export function createLineCollector(maxBytes = MAX_TEXT_BYTES) {
  const lines = new Map<LineKind, { readonly key: readonly SortKey[]; readonly text: string }[]>();
  const documents = new Set<string>();
  let bytes = 0;

  /** Adds a line of canonical JSON, without its newline. Lines of a kind are sorted by `key`. */
  function addText(kind: LineKind, key: readonly SortKey[], text: string): void {
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > maxBytes)
      throwEvidenceError(
        `the evidence has more than ${maxBytes} bytes of text, which is the most that a checker reads. Export a shorter period, or one organization`,
      );
    const ofKind = lines.get(kind) ?? [];
    lines.set(kind, ofKind);
    ofKind.push({ key, text });
  }

  return {
    /** Adds a line with these fields. Lines of a kind are sorted by `key`. */
    add: (kind: LineKind, key: readonly SortKey[], fields: LeafRecord): void =>
      addText(kind, key, toCanonicalJson(fields)),
    /** Adds the line of a leaf. `recordJson` is the exact text over which the commitment of the leaf was computed. */
    addLeaf(kind: 'row' | 'leaf', { place, salt }: Leaf, recordJson: string): void {
      const salted = `"salt":"${toHex(salt ?? Buffer.of())}"`;
      const [before, after] = kind === 'row' ? ['', `"row":${place},`] : [`"leaf":${place},`, ''];
      addText(kind, [place], `{${before}"record":${recordJson},${after}${salted}}`);
    },
    /**
     * Adds the lines of a text whose hash a leaf contains. To each line, adds the field in `owner`, such as `{ reads_of: 12 }`, where 12 is
     * the index of that leaf. `keyNames` are the fields by which the lines are sorted.
     */
    addHashedLines(kind: LineKind, text: string, owner: LeafRecord, keyNames: readonly string[]): void {
      for (const line of text.split('\n').slice(0, -1)) {
        const fields: Record<string, string | number> = { ...JSON.parse(line), ...owner };
        const key = keyNames.map(name => fields[name] ?? '');
        addText(kind, key, toCanonicalJson(fields));
      }
    },
    /** Adds the registry's JSON of a row, unless the same text was added before. */
    addDocument(document: string): void {
      const sha256 = hash('sha256', document, 'hex');
      if (documents.has(sha256)) return;
      documents.add(sha256);
      addText('document', [sha256], toCanonicalJson({ document }));
    },
    /** Returns the size of all lines. */
    getBytes: (): number => bytes,
    /** Yields the lines, each with its newline, in the order that docs/evidence-format.md requires. */
    *iterate(): Generator<string> {
      for (const kind of LINE_KINDS) {
        const ofKind = lines.get(kind) ?? [];
        for (const { text } of ofKind.toSorted((left, right) => compareKeys(left.key, right.key)))
          yield `${text}\n`;
      }
    },
  };
}

/**
 * Compares the sort keys of two lines of the same kind. Each key is an array of fields, and the first field that differs decides. Returns
 * -1 if `left` comes first, 1 if `right` comes first, 0 if all fields of `left` are equal to those of `right`.
 */
function compareKeys(left: readonly SortKey[], right: readonly SortKey[]): number {
  for (const [index, value] of left.entries()) {
    const other = right[index] ?? '';
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}
