import type { Row } from '../../store/contract/tables.js';
import { type Explanation, explainRow } from '../../query/history/explanation.js';
import { describeExplanationReason } from '../../query/history/explanation-reason.js';
import { readVersionsById } from '../../query/lists/find-by-id.js';
import { wordsOf } from '../../query/freshness/describe-freshness.js';
import { readNameOf, readOrigin } from '../../query/names.js';
import { readStates } from '../../query/freshness/read-freshness.js';
import { RETIREMENTS } from '../../query/lists/list-definitions.js';
import { readLastRestatement } from '../../query/history/restated-fields.js';
import { LISTS } from '../../resources/lists.js';
import { ENTRY_BY_RESOURCE } from '../../resources/resources.js';
import { formatCount, formatWithCommas } from '../../text/numbers.js';
import type { ConsoleRequest, ConsolePage } from '../page.js';
import { withAsOf } from '../components/as-of.js';
import { getText, renderCopyableId, renderDetailLink } from '../components/table-cell.js';
import { renderRawText, BOOKKEEPING, renderRowFacts } from '../components/row-facts.js';
import {
  renderCard,
  type LabelledValue,
  renderLabelledValues,
  renderPageHead,
  type TimelineEntry,
  renderTimeline,
} from '../components/detail-page.js';
import { renderFreshnessState } from '../components/freshness.js';
import { html, type Html } from '../components/html.js';
import { selectVersionsKnownAt, renderVersions } from '../components/version-history.js';
import { toDisplayValue } from '../components/display-value.js';
import { renderBadge, renderRestatedBadge } from '../components/badges.js';
import { renderAge, renderDay, renderInstantsIn } from '../components/instants.js';
import { renderAnswerNotes, renderGapList } from '../components/answer.js';
import { redirectByIdPrefix } from './redirect-by-id.js';

/** The page of a retirement: who retired what for whom, its certificate, and how the mirror knows. */
export const RETIREMENT: ConsolePage = {
  path: '/retirements/:id',
  hasHistory: true,
  render: async request => {
    const { reader, params, at, now, inspectFile, findContradictedColumns } = request;
    const versions = await readVersionsById(reader, LISTS.retirements, params['id'] ?? '');
    const knownVersions = selectVersionsKnownAt(at, versions);
    const version = knownVersions.findLast(isCurrent) ?? knownVersions.at(-1) ?? null;
    const anyVersion = version ?? versions[0];
    if (anyVersion === undefined) return await redirectByIdPrefix(RETIREMENTS, request);
    const hasSameOwner = (each: Row) => each['organization_id'] === anyVersion['organization_id'];
    const ground = {
      reader,
      inspect: inspectFile,
      contradicted: findContradictedColumns,
      at: at ?? new Date(now).toISOString(),
    };
    const explanation = await explainRow(ground, LISTS.retirements, versions.filter(hasSameOwner));
    const title = `Retirement ${explanation.id}`;
    if (version === null) {
      const heading = html`<h1>${title} was not in the mirror at that time.</h1>`;
      return { title, body: html`${heading}${renderProvenance(explanation, now)}` };
    }
    const history = knownVersions.filter(hasSameOwner);
    const beneficiary = getText(version, 'beneficiary');
    return {
      title: `Retirement ${formatAmount(version)} t${beneficiary === null ? ', unclaimed' : ` for ${beneficiary}`}`,
      body: await renderRetirement(version, history, explanation, request),
    };
  },
};

/** Returns whether a row version is the current one. */
function isCurrent(version: Row): boolean {
  return version['valid_to'] === null;
}

/**
 * Renders the detail page of a retirement. `version` is the shown version, and `history` has all versions known at that time.
 */
async function renderRetirement(
  version: Row,
  history: readonly Row[],
  explanation: Explanation,
  request: ConsoleRequest,
): Promise<Html> {
  const { reader, now, at } = request;
  const organizationId = String(version['organization_id']);
  const owner = (await readNameOf(reader, organizationId, at)) ?? organizationId;
  const checkpoint = await request.describeCheckpoint(Number(version['version']));
  const states = at === null ? await readStates(reader, 'retirements', organizationId) : null;
  const standing = states?.standingOf(version) ?? null;
  const freshness = standing === null ? null : wordsOf(standing);
  const permanentPath = withAsOf(`/retirements/${encodeURIComponent(explanation.id)}`, explanation.at);
  const registry = (await readOrigin(reader))?.base_url ?? null;
  const listLink = { href: withAsOf('/retirements', at), title: 'Retirements' };
  const restatedAt = await readLastRestatement(reader, organizationId, explanation.id, at);
  const lead = html`${restatedAt !== null && renderRestatedBadge(explanation.id, restatedAt)} ${standing !== null && renderFreshnessState(standing)} ${!isCurrent(version) && renderBadge('No longer listed by the registry', 'bad')} ${history.length > 1 && `changed ${formatCount(history.length - 1, 'time')} since first observed`} ${explanation.certificate?.state !== 'as it was stored' && renderCertificateVerdict(explanation)}`;
  const timeline = renderTimeline(listTimelineEntries(version, history, explanation, now));
  return html`${renderPageHead(listLink, describeRetirement(version), lead)}
${renderPrintedFacts({ owner, registry, permanentPath }, explanation, request)}
<div class="columns"><div class="stack"><div id="facts" class="stack" data-live>${renderCredits(version, at)}<div class="two">${renderParties(version, owner, at)}<section class="card"><h2>Timeline</h2>${timeline}</section></div></div>
<section id="why" class="card" data-live><h2>Provenance</h2>${renderProvenance(explanation, now)}${checkpoint !== null && html`<p>${checkpoint}</p>`}
<p class="cite no-paper">Permanent link: <a href="${permanentPath}">${permanentPath}</a></p></section>
<section id="versions" class="card" data-live><h2>Version history, newest first</h2>${renderVersions(history, now)}</section>
<section class="card no-paper"><details><summary>Technical details</summary>${renderRowFacts({ ...version, freshness }, { now, at }, BOOKKEEPING)}</details>
${typeof version['document'] === 'string' && renderRawText('Original JSON from the registry', version['document'])}</section></div>
<div class="stack"><section id="certificate" class="card" data-live><h2>Certificate</h2>${renderCertificate(explanation)}${await renderCertificateHistory(request, organizationId, explanation.id)}</section><div id="preview"></div></div></div>`;
}

interface PrintedValues {
  readonly owner: string;
  readonly registry: string | null;
  readonly permanentPath: string;
}

/** Renders facts that appear only when the page is printed, such as its URL and the hash of the certificate. */
function renderPrintedFacts(
  { owner, registry, permanentPath }: PrintedValues,
  { at, certificate }: Explanation,
  { now, origin, isDemo, version }: ConsoleRequest,
): Html {
  const facts: readonly LabelledValue[] = [
    ['Demo', isDemo && 'Sandbox registry with invented data'],
    ['Organization', owner],
    ['Registry', registry ?? 'unknown'],
    ['Recorded by', `carbon-mirror ${version}`],
    ['As of', at],
    ['Printed', new Date(now).toISOString()],
    ['Certificate', certificate !== null && `SHA-256 ${certificate.sha256}`],
    ['URL', `${origin}${permanentPath}`],
  ];
  return renderLabelledValues(facts, html` only-paper`);
}

/** Renders a card with the amount, project, vintage and ids of a retirement. */
function renderCredits(retirement: Row, at: string | null): Html {
  const renderId = (column: string) => {
    const id = getText(retirement, column);
    return id !== null && renderCopyableId(id);
  };
  const project = html`${toDisplayValue(retirement['project_name'] ?? retirement['project_id'])}`;
  return renderCard('Credits', [
    ['Amount', html`${formatAmount(retirement)} t`],
    ['Project', renderDetailLink('project_id', retirement['project_id'], project, at)],
    ['Vintage', toDisplayValue(retirement['vintage'])],
    ['Retirement', renderId('id')],
    ['Serialization', renderId('serialization')],
  ]);
}

/** Renders a card with the beneficiary, the organization that retired the credits (`owner`), the reason and the comment. */
function renderParties(retirement: Row, owner: string, at: string | null): Html {
  return renderCard('Parties', [
    ['Beneficiary', toDisplayValue(retirement['beneficiary'] ?? 'unclaimed')],
    ['Retired by', renderDetailLink('organization_id', retirement['organization_id'], html`${owner}`, at)],
    ['Reason', toDisplayValue(retirement['reason'])],
    ['Comment', toDisplayValue(retirement['comment'])],
  ]);
}

/** Returns the timeline entries of a retirement: its registry date, its changes, and when a complete read last confirmed it. */
function listTimelineEntries(
  version: Row,
  history: readonly Row[],
  { dated_at: retiredAt, first_seen_at: firstSeenAt, last_seen_at: lastSeenAt, until }: Explanation,
  now: number,
): TimelineEntry[] {
  const createEntry = (
    at: string | null,
    details: string,
    colour: TimelineEntry['colour'] = 'good',
    title = renderAge(at, now),
  ): TimelineEntry[] => (at === null ? [] : [{ colour, title: html`<strong>${title}</strong>`, details }]);
  return [
    ...createEntry(retiredAt, 'Retired (registry date)', 'good', renderDay(retiredAt ?? '', now)),
    ...createEntry(firstSeenAt, 'First observed by the mirror; earlier history is unknown'),
    ...history
      .slice(1)
      .flatMap(({ valid_from: changedAt }) =>
        createEntry(String(changedAt), 'Change observed, see the version history', 'none'),
      ),
    ...createEntry(lastSeenAt, 'Confirmed unchanged by the latest complete read'),
    ...createEntry(isCurrent(version) ? null : until, 'No longer listed by the registry', 'bad'),
  ];
}

/** Formats the amount of a retirement, such as "1,234.5". */
function formatAmount(retirement: Row): string {
  return formatWithCommas(String(retirement['amount_exact'] ?? 'an unknown amount of'));
}

/** Renders the heading of a retirement, such as "5 t of Peat bog 2021 retired for Acme". */
function describeRetirement(retirement: Row): Html {
  const beneficiary =
    retirement['beneficiary'] === null
      ? ', beneficiary unclaimed'
      : html` for ${toDisplayValue(retirement['beneficiary'])}`;
  const project = retirement['project_name'] ?? retirement['project_id'] ?? 'an unknown project';
  return html`${formatAmount(retirement)} t of ${toDisplayValue(project)} ${toDisplayValue(retirement['vintage'])} retired${beneficiary}`;
}

/** Renders a badge that says whether the stored certificate file still has the hash that it had when it was stored. */
function renderCertificateVerdict({ certificate }: Explanation): Html {
  if (certificate === null || certificate.file === null) return renderBadge('no certificate stored');
  return certificate.state === 'as it was stored'
    ? renderBadge('certificate matches its hash', 'good')
    : renderBadge(`certificate does not match its hash: the file is ${certificate.state}`, 'bad');
}

/** Renders the link to the certificate PDF and its SHA-256 hash. A script adds a preview below the link. */
function renderCertificate(explanation: Explanation): Html {
  const { certificate } = explanation;
  const verdict = renderCertificateVerdict(explanation);
  if (certificate === null || certificate.file === null) return html`<p>${verdict}</p>`;
  const href = `/certificates/${encodeURIComponent(certificate.file)}`;
  const isStored = certificate.state !== 'missing';
  const link = html`<a href="${href}"${isStored && html` id="pdf"`}>Open the certificate</a>`;
  return html`<p>${verdict} ${link}</p>
${renderLabelledValues([['SHA-256', certificate.sha256 !== null && renderCopyableId(certificate.sha256)]])}`;
}

/** Renders the versions of a certificate that were known at the instant. False if there is at most one. */
async function renderCertificateHistory(
  { reader, at, now }: ConsoleRequest,
  organizationId: string,
  retirementId: string,
): Promise<Html | false> {
  const versions = await readVersionsById(
    reader,
    ENTRY_BY_RESOURCE.certificates,
    retirementId,
    organizationId,
  );
  const knownVersions = selectVersionsKnownAt(at, versions);
  return (
    knownVersions.length > 1 &&
    html`<h3>Certificate history, newest first</h3>${renderVersions(knownVersions, now)}`
  );
}

/** Renders why the mirror shows this retirement, then what the mirror does not know about it. */
function renderProvenance({ reasons, notes }: Explanation, now: number): Html {
  const sentences = reasons.map(
    reason => html`<p>${renderInstantsIn(describeExplanationReason(reason))}</p>`,
  );
  return html`${sentences}${renderAnswerNotes(notes, now)}${notes.gaps.length > 0 && html`<h3>Known gaps</h3>${renderGapList(notes)}`}`;
}
