import { describeBalanceReason } from '../../query/history/balance-reason.js';
import type { AnswerNotes } from '../../query/answer/answer.js';
import {
  type BalanceLine,
  BALANCE_COLUMNS as EXPORTED_COLUMNS,
  collectBalance,
  describeVerdict,
  type ReadableSums,
  readBalance,
  toReadableSums,
} from '../../query/history/balance.js';
import { FRESH, wordsOf } from '../../query/freshness/describe-freshness.js';
import { readChoices } from '../../query/names.js';
import {
  formatOmittedCount,
  formatCount,
  MAX_SHOWN,
  formatKnownOrganizations,
  formatWithCommas,
} from '../../text/numbers.js';
import { formatTonnes, formatCreditType } from '../../text/tonnes.js';
import { createCache } from '../cache.js';
import { createFilePages, type ExportedRow, renderFileLinks } from '../downloads.js';
import type { Reader } from '../../store/contract/reader.js';
import { renderButton } from '../actions/button.js';
import type { ComparisonOutcome } from '../registry-comparison.js';
import { findChosenOrganization } from '../filter-fault.js';
import type { ConsoleRequest, ConsolePage } from '../page.js';
import { html, type Html, type HtmlContent } from '../components/html.js';
import { renderCaveats } from '../components/answer.js';
import { renderChoice, renderFilterBar } from '../components/filter-bar.js';
import { renderTable } from '../components/table.js';
import { renderTonnes, NO_VALUE, ZERO } from '../components/table-cell.js';
import { renderBadge, renderState } from '../components/badges.js';
import { renderAge } from '../components/instants.js';

/** A check that took longer than this is shown again for a while, with its age. */
const MIN_CACHED_MS = 1_000;
/** A check is shown this many times as long as it took, so that it takes 1 % of a processor at most. */
const CACHED_FACTOR = 100;

/**
 * Creates the page that checks whether the listed amounts add up. The check reads every row. Therefore its result is sent after the
 * other parts of the page, and the result for all organizations is cached if the check was slow.
 */
export function createBalancePage(): ConsolePage {
  const cache = createCache<Reconciliation>(tookMs => (tookMs < MIN_CACHED_MS ? 0 : CACHED_FACTOR * tookMs));
  return {
    path: '/balance',
    parameters: ['organization_id'],
    render: async request => {
      const { reader, now, query } = request;
      const organizationId = await findChosenOrganization(reader, query);
      if (organizationId !== null && typeof organizationId !== 'string') return organizationId;
      const organizations = await readChoices(reader, 'organizations', null);
      return {
        title: 'Reconciliation',
        reloadsWithoutScript: request.comparison?.getStatus().running != null,
        body: html`<div class="head"><h1>Reconciliation</h1>${renderFilterBar('/balance', [{ label: 'organization', input: renderChoice('organization_id', organizations, organizationId) }])}</div>
${renderComparison(request)}`,
        renderRest: async () => {
          const read = () => computeReconciliation(reader, organizationId, now);
          const reconciliation = organizationId === null ? await cache(now, '', read) : await read();
          return renderReconciliation(reconciliation, now, renderFileLinks('/balance', query, {}));
        },
      };
    },
  };
}

/** The CSV and JSON files with every sum, and every part of a sum that does not balance. */
export const BALANCE_FILES = createFilePages(
  'balance',
  { parameters: ['organization_id'] },
  async request => {
    const organizationId = await findChosenOrganization(request.reader, request.query);
    if (organizationId !== null && typeof organizationId !== 'string') return organizationId;
    const answer = await readBalance(request.reader, organizationId);
    return { columns: EXPORTED_COLUMNS, rows: toFileRows(answer.rows), notes: answer };
  },
);

/** Converts lines of the reconciliation to rows for CSV or JSON: `balanced` becomes 1 or 0. */
async function* toFileRows(lines: AsyncIterable<BalanceLine>): AsyncGenerator<ExportedRow> {
  for await (const { kind: _kind, ...line } of lines) yield { ...line, balanced: Number(line.balanced) };
}

/** A reconciliation as the page shows it. */
interface Reconciliation {
  /** When the check began. */
  readonly at: string;
  readonly balanced: boolean | null;
  readonly verdict: string;
  readonly notes: AnswerNotes;
  readonly sums: ReadableSums;
  /** The first sums that do not balance. */
  readonly differences: readonly BalanceLine[];
  readonly differenceCount: number;
}

/** Reads all amounts and checks whether they add up, for one organization or, if the id is null, for all. */
async function computeReconciliation(
  reader: Reader,
  organizationId: string | null,
  now: number,
): Promise<Reconciliation> {
  const { rows, ...notes } = await readBalance(reader, organizationId);
  const { balanced, sums, differences } = await collectBalance({ rows });
  return {
    at: new Date(now).toISOString(),
    balanced,
    verdict: describeVerdict(sums),
    notes,
    sums: toReadableSums(sums),
    differences: differences.slice(0, MAX_SHOWN),
    differenceCount: differences.length,
  };
}

/** Renders the reconciliation: whether all sums balance, the sums that do not, and all checked sums. */
function renderReconciliation(reconciliation: Reconciliation, now: number, fileLinks: Html): Html {
  const { at, balanced, notes, differences, differenceCount } = reconciliation;
  const { totals, failed, shown, hiddenCount } = reconciliation.sums;
  return html`<section id="verdict" data-live><p class="notice ${balanced === false ? 'bad' : ''}">${renderVerdict(reconciliation)} <span class="quiet">Calculated ${renderAge(at, now)}.</span></p></section>
${renderCaveats(notes)}
<section id="wrong" data-live>${differenceCount > 0 && renderTable('Unbalanced sums', [SUM_COLUMN, ORGANIZATION_COLUMN, { name: 'Reason', cell: ({ why }) => why && describeBalanceReason(why) }], differences, { footer: formatOmittedCount(differenceCount) })}</section>
<section id="totals" data-live>${totals.length > 0 && renderTable('Totals', TOTAL_COLUMNS, totals, { isBrief: true })}</section>
<section id="sums" data-live>${renderTable('Checked sums', BALANCE_COLUMNS, [...failed, ...shown], { empty: 'No list with rows has been read completely yet.', isBrief: true, footer: hiddenCount > 0 && `and ${formatWithCommas(hiddenCount)} more` })}${fileLinks}</section>`;
}

/** Renders the section in which a visitor compares the mirror with the registry: a button, the progress and the last result. */
function renderComparison(request: ConsoleRequest): Html {
  const { comparison, now } = request;
  if (comparison === null)
    return html`<section class="card"><h2>Comparison with the registry</h2><p>This console has no registry credentials. To compare every row, run <code>carbon-mirror verify --against-registry</code> where the credentials are set.</p></section>`;
  const { running, finished } = comparison.getStatus();
  const progress =
    running === null
      ? renderButton(request, '/balance/compare', 'Compare with the registry')
      : html`<p role="status">${renderBadge('in progress', 'doubt')} Started ${renderAge(running.since, now)}: ${formatCount(running.lists, 'list')} read${running.reading !== null && html`, reading ${running.reading}`}</p>`;
  const lastResult =
    finished === null
      ? html`<p class="quiet">No comparison since this console started. A comparison reads every row from the registry again.</p>`
      : html`<p>${describeComparison(finished.outcome)} <span class="quiet">Compared ${renderAge(finished.at, now)}.</span></p>${renderComparisonDetails(finished.outcome)}`;
  return html`<section id="registry" class="card" data-live><h2>Comparison with the registry</h2>
${progress}
${lastResult}</section>`;
}

/** Renders one sentence about a finished comparison with the registry: how many rows match or differ, or why it failed. */
function describeComparison(outcome: ComparisonOutcome): Html {
  if ('fault' in outcome) return html`${renderBadge('The comparison failed:', 'bad')} ${outcome.fault}`;
  const { faults, rows, organizations, known, uncompared } = outcome;
  const scope = `${formatWithCommas(rows)} rows of ${formatWithCommas(organizations)} of ${formatKnownOrganizations(known)}`;
  if (faults.length > 0)
    return renderBadge(`${formatCount(faults.length, 'difference')} in ${scope}.`, 'bad');
  if (rows === 0)
    return renderBadge('Nothing was compared: no row could be read from the registry.', 'doubt');
  return html`${renderBadge(`${scope} match the registry.`, 'good')}${uncompared.length > 0 && ` ${formatCount(uncompared.length, 'list')} could not be compared.`}`;
}

/**
 * Renders the rows that differ between mirror and registry, then the lists that could not be compared. False after a failed
 * comparison.
 */
function renderComparisonDetails(outcome: ComparisonOutcome): Html | false {
  if ('fault' in outcome) return false;
  const columns = (['check', 'where', 'fault'] as const).map(name => ({
    name,
    cell: (difference: (typeof outcome.faults)[number]) => difference[name],
  }));
  const differences = outcome.faults.slice(0, MAX_SHOWN);
  const uncompared = outcome.uncompared.slice(0, MAX_SHOWN).map(list => {
    const organization = list.organization_name ?? list.organization_id ?? 'An organization without a name';
    const resource = list.resource === '*' ? 'everything' : list.resource.replaceAll('_', ' ');
    return html`<li>${organization}, ${resource}: ${wordsOf({ ...FRESH, ...list })}</li>`;
  });
  return html`${differences.length > 0 && renderTable('Differences', columns, differences, { footer: formatOmittedCount(outcome.faults.length) })}
${uncompared.length > 0 && html`<h3>Lists that could not be compared</h3><ul class="gaps">${uncompared} ${formatOmittedCount(outcome.uncompared.length)}</ul>`}`;
}

/** Renders a badge that says whether all sums balance. `balanced` is null if there is no sum yet. */
function renderVerdict({ verdict, balanced }: Reconciliation): Html {
  if (balanced === null) return renderBadge('Nothing to reconcile yet.');
  return renderBadge(verdict, balanced ? 'good' : 'bad');
}

const SUM_COLUMN = {
  name: 'Sum',
  cell: ({ what, identity, type }: BalanceLine) =>
    html`<span class="quiet${identity === 'credits' && ' detail'}">${identity}</span> ${what}${type !== null && `, ${formatCreditType(type)}`}`,
};
const ORGANIZATION_COLUMN = {
  name: 'Organization',
  cell: ({ organization_name: name, organization_id: id }: BalanceLine) => name ?? id ?? 'all',
};

/** Creates a table column of amounts in tonnes. `getAmount` returns the amount of a row in millionths, or null. */
function createAmountColumn(name: string, getAmount: (line: BalanceLine) => BalanceLine['found_micro']) {
  const cell = (line: BalanceLine): HtmlContent => {
    const micro = getAmount(line);
    if (micro === null) return NO_VALUE;
    return micro === 0n || micro === 0 ? ZERO : renderTonnes(formatTonnes(BigInt(micro)));
  };
  return { name: `${name}, t`, cell, numeric: true };
}

/** Renders "balanced", or the badge "not balanced". */
function renderBalanced(balanced: boolean): Html {
  return renderState(balanced ? 'balanced' : 'not balanced', balanced ? 'good' : 'bad');
}

const BALANCE_COLUMNS = [
  SUM_COLUMN,
  ORGANIZATION_COLUMN,
  { name: 'Result', isImportant: true, cell: ({ balanced }: BalanceLine) => renderBalanced(balanced) },
  createAmountColumn('Opening', line => line.opening_micro),
  createAmountColumn('Increases', line => line.risen_micro),
  createAmountColumn('Decreases', line => line.fallen_micro),
  { ...createAmountColumn('Found', line => line.found_micro), isSum: true },
  createAmountColumn('Expected', line => line.expected_micro),
  createAmountColumn('Difference', line => line.difference_micro),
];

/** Totals cover all organizations, so they have no column for one. */
const TOTAL_COLUMNS = BALANCE_COLUMNS.filter(column => column !== ORGANIZATION_COLUMN);
