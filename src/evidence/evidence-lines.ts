import { hash } from 'node:crypto';
import { MAX_TEXT_BYTES } from './checker/folder-files.js';
import { toCanonicalJson } from './leaf.js';
import { refuse } from './evidence-error.js';
import { toHex } from './hashes.js';
import type { Cells, Leaf } from './port.js';

type SortKey = string | number;

/** The kinds of lines in evidence.jsonl, in the order in which they stand. */
const KINDS = ['header', 'row', 'leaf', 'hidden', 'months', 'reads', 'named', 'node', 'document'] as const;
type LineKind = (typeof KINDS)[number];

/**
 * Collects the lines of evidence.jsonl and returns them in the order that docs/evidence-format.md requires. Refuses more text
 * than a checker has to read.
 */
export function createEvidenceLines(maxBytes = MAX_TEXT_BYTES) {
  const lines = new Map<LineKind, { readonly key: readonly SortKey[]; readonly text: string }[]>();
  const documents = new Set<string>();
  let bytes = 0;

  function addText(kind: LineKind, key: readonly SortKey[], text: string): void {
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > maxBytes)
      refuse(
        `the evidence has more than ${maxBytes} bytes of text, which is the most that a checker reads. Export a shorter period, or one organization`,
      );
    const ofKind = lines.get(kind) ?? [];
    lines.set(kind, ofKind);
    ofKind.push({ key, text });
  }

  return {
    add: (kind: LineKind, key: readonly SortKey[], fields: Cells): void =>
      addText(kind, key, toCanonicalJson(fields)),
    /** Adds a leaf with the text that was sealed. */
    addLeaf(kind: 'row' | 'leaf', { place, salt }: Leaf, text: string): void {
      const salted = `"salt":"${toHex(salt ?? Buffer.of())}"`;
      const [before, after] = kind === 'row' ? ['', `"row":${place},`] : [`"leaf":${place},`, ''];
      addText(kind, [place], `{${before}"record":${text},${after}${salted}}`);
    },
    /** Adds lines whose text was sealed, with the field that says to which leaf they belong. */
    addSealed(kind: LineKind, text: string, owner: Cells, keyNames: readonly string[]): void {
      for (const line of text.split('\n').slice(0, -1)) {
        const fields: Record<string, string | number> = { ...JSON.parse(line), ...owner };
        const key = keyNames.map(name => fields[name] ?? '');
        addText(kind, key, toCanonicalJson(fields));
      }
    },
    /** Adds the registry's JSON of a row, once. */
    addDocument(document: string): void {
      const sha256 = hash('sha256', document, 'hex');
      if (documents.has(sha256)) return;
      documents.add(sha256);
      addText('document', [sha256], toCanonicalJson({ document }));
    },
    getBytes: (): number => bytes,
    *list(): Generator<string> {
      for (const kind of KINDS) {
        const ofKind = lines.get(kind) ?? [];
        for (const { text } of ofKind.toSorted((left, right) => compareKeys(left.key, right.key)))
          yield `${text}\n`;
      }
    },
  };
}

function compareKeys(left: readonly SortKey[], right: readonly SortKey[]): number {
  for (const [index, value] of left.entries()) {
    const other = right[index] ?? '';
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}
