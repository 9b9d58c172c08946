import { chooseColumns, formatColumnName, isFlag } from '../column-labels.js';
import { formatField, getText, type RowVersion } from '../row-versions.js';
import { formatCount, formatInstant, formatTonnes } from '../text.js';
import { createElement, createTable, wrapTable } from './element.js';

/** How many rows are shown before "Show all" is pressed. */
const ROWS_AT_FIRST = 200;
const MICRO_PER_TONNE = 1_000_000;
/** Columns by whose values the amounts of rows can be added up. */
const GROUP_COLUMNS = [
  'organization_id',
  'project_name',
  'vintage',
  'type',
  'beneficiary',
  'reason',
  'is_claimed',
  'state',
  'serialization',
  'sha256',
  'sealed',
];
/** Labels of the two months by which rows can also be added up. */
const MONTH_LABELS = { dated: 'Month dated by the registry', observed: 'Month observed' } as const;
const LISTS_WITHOUT_AMOUNTS = new Set(['addresses', 'certificates', 'installation', 'organization']);
const CERTIFICATE_LABEL = 'Certificate';
/** The position of the column of certificates: near the start, so that nobody has to scroll to it. */
const CERTIFICATE_INDEX = 2;

/** The rows and texts of a table that `createListTable` creates. */
export interface ListTable {
  readonly title: string;
  readonly rows: readonly RowVersion[];
  /** The registry's JSON by its SHA-256. */
  readonly documents: ReadonlyMap<string, string>;
  /** The tree size of the older checkpoint; null if none was given. */
  readonly olderSize: number | null;
  /** Returns the name of an organization by its id. */
  readonly getOrganizationName: (id: string) => string;
  /** Creates the buttons that open and save the certificate of a row; null if it has none. */
  readonly createCertificateButtons: (row: RowVersion) => Node | null;
}

/** Creates a table of rows with controls to filter, sort and add them up. */
export function createListTable({
  title,
  rows,
  documents,
  olderSize,
  getOrganizationName,
  createCertificateButtons,
}: ListTable): HTMLElement {
  const allColumns = new Set(rows.flatMap(({ leaf }) => [...leaf.record.keys()]));
  allColumns.add('leafIndex');
  if (allColumns.has('document_sha256')) allColumns.add('document');
  if (olderSize !== null) allColumns.add('sealed');
  const hasCertificates = rows.some(row => createCertificateButtons(row) !== null);
  const searchTexts = new Map<RowVersion, string>();
  let sorting = { column: allColumns.has('created_at') ? 'created_at' : 'valid_from', direction: 1 };
  let limit = ROWS_AT_FIRST;

  const filter = createElement('input', { type: 'search' });
  const grouping = createElement('select', {}, [
    createElement('option', { value: '' }, ['Nothing']),
    ...listGroupings().map(([value, label]) => createElement('option', { value }, [label])),
  ]);
  const showAll = createElement('input', { type: 'checkbox' });
  const result = createElement('div');
  const controls = createElement('p', { className: 'controls' }, [
    createElement('label', {}, ['Filter ', filter]),
    createElement('label', {}, ['Add up by ', grouping]),
    createElement('label', {}, [showAll, ' All columns']),
  ]);
  for (const control of [filter, grouping, showAll]) control.addEventListener('input', draw);
  draw();
  return createElement('div', {}, [controls, result]);

  /** Returns the columns by which the reader can group the rows to see their sums, each with its label. */
  function listGroupings(): (readonly [column: string, label: string])[] {
    return [
      ...GROUP_COLUMNS.filter(column => allColumns.has(column)).map(
        column => [column, formatColumnName(column)] as const,
      ),
      ...(allColumns.has('created_at') ? [['dated', MONTH_LABELS.dated] as const] : []),
      ['observed', MONTH_LABELS.observed],
    ];
  }

  /** Replaces the tables by those for the current filter, grouping and sorting. */
  function draw(): void {
    const matching = rows.filter(matchesFilter).toSorted(compareRows);
    result.replaceChildren(
      ...(grouping.value === '' ? [] : [createGroupTable(matching, grouping.value)]),
      createRowTable(matching),
    );
  }

  /** Returns true if a cell of a row contains the text of the filter. Ignores the difference between upper and lower case. */
  function matchesFilter(row: RowVersion): boolean {
    const wanted = filter.value.trim().toLowerCase();
    if (wanted === '') return true;
    let text = searchTexts.get(row);
    if (text === undefined) {
      const cells = [...row.leaf.record.keys(), 'sealed'].map(column => formatCell(row, column));
      text = cells.join('\n').toLowerCase();
      searchTexts.set(row, text);
    }
    return text.includes(wanted);
  }

  /** Compares two rows by the sorted column, then by leaf index. */
  function compareRows(left: RowVersion, right: RowVersion): number {
    const [one, other] = [getSortValue(left, sorting.column), getSortValue(right, sorting.column)];
    if (one === other) return left.leaf.leafIndex - right.leaf.leafIndex;
    /** Rows without a value come last in both directions. */
    if (one === null) return 1;
    if (other === null) return -1;
    return (one < other ? -1 : 1) * sorting.direction;
  }

  /** Formats the text of a cell. */
  function formatCell({ leaf }: RowVersion, column: string): string {
    if (column === 'leafIndex') return String(leaf.leafIndex);
    if (column === 'document') return documents.get(getText(leaf.record, 'document_sha256')) ?? '';
    if (column === 'sealed') return describeSealing(leaf, olderSize);
    const text = formatField(leaf.record, column);
    if (text === '') return '';
    if (getCellClass(column) === 'instant') return formatInstant(text);
    if (isFlag(column)) return text === '1' ? 'yes' : 'no';
    return column.endsWith('organization_id') ? getOrganizationName(text) : text;
  }

  /** Returns the value of a row by which it is grouped; empty if it has none. */
  function getGroupValue(row: RowVersion, column: string): string {
    if (column === 'dated') return row.datedAt?.slice(0, 7) ?? '';
    if (column === 'observed') return row.observedAt.slice(0, 7);
    return formatCell(row, column);
  }

  /** Creates one table with a line for each value of a column: the value, the number of its rows, and their tonnes. */
  function createGroupTable(matching: readonly RowVersion[], column: string): HTMLElement {
    const groups = new Map<string, RowVersion[]>();
    for (const row of matching) {
      const group = getGroupValue(row, column);
      const members = groups.get(group) ?? [];
      groups.set(group, members);
      members.push(row);
    }
    const label = Object.entries(MONTH_LABELS).find(([name]) => name === column)?.[1];
    const lines = [...groups].map(([group, members]) => ({
      group: group || 'none',
      members,
      micro: sumMicro(members),
    }));
    const isByMonth = label !== undefined;
    lines.sort((left, right) => {
      if (isByMonth) return left.group < right.group ? -1 : 1;
      if (left.micro !== right.micro) return left.micro > right.micro ? -1 : 1;
      return right.members.length - left.members.length || (left.group < right.group ? -1 : 1);
    });
    const name = label ?? formatColumnName(column);
    return createTable(
      `${title}, added up by ${name.toLowerCase()}`,
      [name, 'Rows', 'Tonnes'],
      lines.map(({ group, members }) => [group, String(members.length), formatSums(members).join(', ')]),
      1,
    );
  }

  /** Creates the table of the rows themselves, with their sums as caption. */
  function createRowTable(matching: readonly RowVersion[]): HTMLElement {
    const columns = chooseColumns(allColumns, showAll.checked);
    const shown = matching.slice(0, limit);
    const head = columns.map(createColumnHead);
    const certificateHead = createElement('th', { scope: 'col' }, [CERTIFICATE_LABEL]);
    if (hasCertificates) head.splice(CERTIFICATE_INDEX, 0, certificateHead);
    const body = shown.map(row => {
      const cells = columns.map(column =>
        createElement('td', { className: getCellClass(column) }, [formatCell(row, column)]),
      );
      const buttons = createCertificateButtons(row);
      const certificateCell = createElement('td', {}, buttons === null ? [] : [buttons]);
      if (hasCertificates) cells.splice(CERTIFICATE_INDEX, 0, certificateCell);
      return createElement('tr', {}, cells);
    });
    const table = createElement('table', {}, [
      createElement('caption', {}, [
        [`${formatCount(matching.length, 'row')} of ${rows.length}`, ...formatSums(matching)].join(', '),
      ]),
      createElement('thead', {}, [createElement('tr', {}, head)]),
      createElement('tbody', {}, body),
    ]);
    const parts: Node[] = [wrapTable(table, title)];
    if (matching.length > shown.length) parts.push(createShowAllLine(matching.length));
    return createElement('div', {}, parts);
  }

  /** Creates a line that says how many rows are shown, with a button that shows all. */
  function createShowAllLine(total: number): HTMLElement {
    const showEverything = () => {
      limit = Number.POSITIVE_INFINITY;
      draw();
    };
    const button = createElement('button', { type: 'button', onclick: showEverything }, [
      `Show all ${formatCount(total, 'row')}`,
    ]);
    return createElement('p', {}, [`${limit} rows are shown; the sums include all. `, button]);
  }

  /**
   * Creates the header cell of a column. It contains a button that sorts the table by this column. A second press of the button reverses
   * the order.
   */
  function createColumnHead(column: string): HTMLTableCellElement {
    const isSorted = column === sorting.column;
    const sortByColumn = () => {
      sorting = { column, direction: isSorted ? -sorting.direction : 1 };
      draw();
      result.querySelector<HTMLButtonElement>('[aria-sort] button')?.focus();
    };
    const arrow = isSorted ? (sorting.direction === 1 ? ' ▲' : ' ▼') : '';
    const button = createElement('button', { type: 'button', onclick: sortByColumn }, [
      formatColumnName(column),
      createElement('span', { ariaHidden: 'true' }, [arrow]),
    ]);
    const head = createElement('th', { scope: 'col', className: getCellClass(column) }, [button]);
    if (isSorted) head.ariaSort = sorting.direction === 1 ? 'ascending' : 'descending';
    return head;
  }
}

/**
 * Describes whether the older checkpoint covers a row, so that readers can find later rows. Empty without an older checkpoint.
 */
function describeSealing({ leafIndex, record }: RowVersion['leaf'], olderSize: number | null): string {
  if (olderSize === null) return '';
  if (leafIndex < olderSize) return 'by the older checkpoint';
  return record.has('ended_version') ? 'later, replacing a version' : 'later';
}

/** Returns the CSS class of a column's cells; empty for plain text. */
function getCellClass(column: string): string {
  if (['amount_exact', 'leafIndex', 'size', 'version', 'sync_id'].includes(column)) return 'number';
  if (['created_at', 'updated_at', 'valid_from', 'ended_at', 'fetched_at', 'reserved_to_at'].includes(column))
    return 'instant';
  if (column === 'document') return 'json';
  if (column.endsWith('organization_id')) return '';
  return /(^|_)id$|sha256|serialization/.test(column) ? 'code' : '';
}

/** Returns the value by which a row is sorted in a column; null if the row has none. */
function getSortValue(row: RowVersion, column: string): string | number | bigint | null {
  if (column === 'leafIndex' || column === 'sealed') return row.leaf.leafIndex;
  if (column === 'amount_exact')
    return row.micro ?? Number(getText(row.leaf.record, column)) * MICRO_PER_TONNE;
  const value = row.leaf.record.get(column);
  return value === undefined || typeof value === 'object' ? null : value;
}

/** Adds up the amounts of rows, in millionths of a tonne. */
function sumMicro(rows: readonly RowVersion[]): bigint {
  return rows.reduce((sum, { micro }) => sum + (micro ?? 0n), 0n);
}

/** How the registry's types of credits are shown behind an amount. */
const TYPE_NAMES: Readonly<Record<string, string>> = { exPost: ' ex-post', exAnte: ' ex-ante' };

/**
 * Formats the tonnes of rows, one text for each credit type, because issued and expected credits must not be summed together. If rows have
 * no usable amount, a last text says how many. Rows of lists that never have amounts are not counted there.
 */
function formatSums(rows: readonly RowVersion[]): string[] {
  const sums = new Map<string, bigint>();
  let withoutAmount = 0;
  for (const { micro, leaf, list } of rows) {
    if (micro === null && !LISTS_WITHOUT_AMOUNTS.has(list)) withoutAmount += 1;
    if (micro === null) continue;
    const type = getText(leaf.record, 'type');
    sums.set(type, (sums.get(type) ?? 0n) + micro);
  }
  const texts = [...sums]
    .toSorted(([left], [right]) => (left > right ? -1 : 1))
    .map(([type, micro]) => `${formatTonnes(micro)}${TYPE_NAMES[type] ?? (type && ` ${type}`)}`);
  if (withoutAmount > 0) texts.push(`${withoutAmount} without a usable amount`);
  return texts;
}
