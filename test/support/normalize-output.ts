/** Replaces ids, instants and ages with zeros of the same length, so that columns keep their places. */
export function normalizeInPlace(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, id => id.replaceAll(/[0-9a-f]/g, '0'))
    .replaceAll(/\b[0-9a-f]{8}…/g, '00000000…')
    .replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, at => at.replaceAll(/\d/g, '0'))
    .replaceAll(/"(age_seconds|version|sync_id)":\d+/g, '"$1":0')
    .replaceAll(
      /\b\d{1,2} s( {1,2}|$)/gm,
      (age, space: string) => `0 s${' '.repeat(age.length - 3 - space.length)}${space}`,
    );
}

const FIRST_LINES = 6;
const LAST_LINES = 4;

/** Reduces output to its words: replaces numbers, ids and hashes, and keeps only the first and last lines of a long text. */
export function normalizeText(text: string): string {
  const lines = normalizeInPlace(text)
    .replaceAll(/\bproject [0-9a-f][0-9a-f-]+/g, 'project 0')
    .replaceAll(/\b(?:(?=[a-f-]*\d)[0-9a-f-]{6,}|[a-f]{8}[a-f-]*)…/g, '0…')
    .replaceAll(/cm_[\w-]{43}/g, 'TOKEN')
    .replaceAll(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g, 'PEM')
    .replaceAll(/[A-Za-z0-9+/]{43}=/g, 'HASH')
    .replaceAll(/state=[\w.%~-]+/g, 'state=STATE')
    .replaceAll(/\/(?:tmp|dev\/shm)\/[\w-]+/g, 'FOLDER')
    .replaceAll(/\b[0-9a-f]{32,}\b/g, 'HASH')
    .replaceAll(/0x[0-9a-fA-F]+/g, '0x0')
    .replaceAll(/\d+(?:[.,:]\d+)*/g, '0')
    .replaceAll(/\b0 (?:ms|s|min|h|d)\b/g, '0 s')
    .replaceAll(/\b0 s +ago\b/g, '0 s ago')
    .split('\n')
    .map(line => shortenCells(line.replaceAll(/ {2,}/g, '  ').replace(/\{".*/, '{...').trimEnd()));
  const distinctLines = lines.filter((line, index) => line !== lines[index - 1]);
  if (distinctLines.length <= FIRST_LINES + LAST_LINES) return distinctLines.join('\n');
  return [...distinctLines.slice(0, FIRST_LINES), '[...]', ...distinctLines.slice(-LAST_LINES)].join('\n');
}

const CELL_LENGTH = 12;

/** Shortens the cells of a table row, because the width of a cell depends on the ages beside it. */
function shortenCells(line: string): string {
  const cells = line.split('  ');
  if (cells.length < 3) return line;
  return cells
    .map(cell => (cell.length > CELL_LENGTH ? `${cell.slice(0, CELL_LENGTH).trimEnd()}…` : cell))
    .join('  ');
}

/** Lists the paths of a JSON value, down to a depth. A document of the registry counts as one path. */
export function listJsonPaths(value: unknown, depth = 9): string[] {
  return [...new Set(listPathsBelow(value, '', depth))].toSorted();
}

function listPathsBelow(value: unknown, path: string, depth: number): string[] {
  if (depth === 0 || typeof value !== 'object' || value === null) return [path];
  if (Array.isArray(value)) return value.flatMap(each => listPathsBelow(each, `${path}[]`, depth - 1));
  return Object.entries(value).flatMap(([name, inner]) =>
    listPathsBelow(inner, `${path}.${name}`, REGISTRY_DOCUMENTS.includes(name) ? 0 : depth - 1),
  );
}

const REGISTRY_DOCUMENTS = ['content', 'document', 'body'];
