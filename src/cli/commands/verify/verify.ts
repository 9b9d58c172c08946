import { createHash } from 'node:crypto';
import type { Reader } from '../../../store/contract/reader.js';
import type { Broken } from '../../../store/contract/broken.js';
import { countKnown } from '../../../query/coverage.js';
import { readNotCompared } from '../../../query/at-registry.js';
import { FRESH, wordsOf } from '../../../query/freshness/words.js';
import { readSignedTexts } from '../../../query/inbox/deliveries.js';
import { countFindings } from '../../../query/history/findings.js';
import { isListResource } from '../../../resources/lists.js';
import {
  formatRest,
  formatCount,
  MAX_SHOWN,
  formatKnownOrganizations,
  withThousands,
} from '../../../text/numbers.js';
import { truncateName } from '../../../text/clean-text.js';
import { verifyFiles } from '../../certificate-files.js';
import { command } from '../../command.js';
import type { Context } from '../../context.js';
import { checkFault, demandNotInterrupted, usageFault } from '../../exit.js';
import { describeCounts, ON_FINDINGS } from '../../health.js';
import { countUnchecked, describeUnchecked, verifySealed } from '../../sealed.js';
import { flag, text } from '../../options.js';
import type { Verified } from '../../../evidence/verify.js';

const NOT_ASKED =
  'This check cannot find a row that somebody changed together with the registry\'s JSON beside it. "carbon-mirror verify --against-registry" can: it asks the registry.';

export const VERIFY = command({
  says: 'Check the databases, the log of the evidence and every certificate; with --against-registry every row too',
  options: {
    againstRegistry: flag('read everything again and compare it with the mirror, row by row'),
    evidence: text('folder', 'check instead a folder of evidence, whoever made it: nothing in it is trusted'),
    key: text('key', 'with --evidence: the public key of the log, as evidence init printed it'),
    since: text('checkpoint', 'with --evidence: the file of an older checkpoint that you were given'),
  },
  prints: { json: 'print the result as JSON' },
  examples: [
    'carbon-mirror verify',
    'carbon-mirror verify --against-registry --json',
    'carbon-mirror verify --evidence evidence-2025 --key KEY --since checkpoint-2025-01-31.txt',
  ],
  run: async (context, { againstRegistry, evidence, key, since }) => {
    if (evidence !== undefined) {
      const { checkFolder } = await import('../evidence/check.js');
      return await checkFolder(context, evidence, [key ?? '', ...(since === undefined ? [] : [since])]);
    }
    if (key !== undefined || since !== undefined) throw usageFault('--key and --since go with --evidence.');
    const interrupted = context.io.interruption();
    const own = await check(context, interrupted);
    const [sealed, unchecked] = [await verifySealed(context), await countUnchecked(context)];
    const compared = againstRegistry ? await compare(context, interrupted) : null;
    const unsealed = sealed?.faults.map(fault => ({ check: 'evidence', ...fault })) ?? [];
    const found = [...own.faults, ...unsealed, ...(compared?.faults ?? [])];
    const faults = found.map(each => ({ count: 1, ...each }));
    const { findings, rows: checked, files } = own;
    const { rows = null, organizations = null, known = null, left = null } = compared ?? {};
    if (context.format === 'json') {
      const notCompared = left?.map(({ name, ...each }) => ({ ...each, organizationName: name })) ?? null;
      const counts = { rowsChecked: checked, certificates: files, rows, organizations, known };
      const { covered = null, waiting = null } = sealed ?? {};
      const log = { sealed: covered, changesNotSealed: waiting, leavesNotChecked: unchecked };
      await context.value({ faults, findings, ...counts, ...log, notCompared });
    } else if (faults.length > 0) await context.rows(['check', 'where', 'fault'], faults);
    const told = describeCounts(findings);
    if (told !== null)
      context.say(`Found at the registry, and no fault of the mirror: ${told}. ${ON_FINDINGS}`);
    sayLeft(context, left ?? []);
    if (unchecked > 0) context.say(`${describeUnchecked(unchecked)}.`);
    if (faults.length > 0) {
      throw checkFault(
        `Faults: ${withThousands(faults.reduce((sum, { count }) => sum + count, 0))}.`,
        compared === null || compared.faults.length < faults.length
          ? '"carbon-mirror sync --full" restores what the registry shows; only a backup restores dates, past versions and broken files.'
          : 'It may have changed at the registry since it was read, by a webhook that was lost: run "carbon-mirror sync", then this again. What differs still was changed here: "carbon-mirror sync --full" restores it.',
      );
    }
    if (rows === 0) {
      throw checkFault(
        'Nothing was compared with the registry: there is no row that can be read there.',
        '"carbon-mirror status" says what each organization lets be read.',
      );
    }
    if (sealed !== null) context.say(describeSealed(sealed));
    context.say(
      `${context.location().engine.checked}. Nothing in the mirror contradicts itself: ${formatCount(checked, 'row')}, past ones too, and ${formatCount(files, 'certificate')}.`,
      compared === null
        ? NOT_ASKED
        : `${withThousands(compared.rows)} rows of ${compared.organizations} of ${formatKnownOrganizations(compared.known)} are as at the registry. With dates and past rows nothing there can be compared.`,
    );
  },
});

function describeSealed({ leaves, covered, waiting, erased, removed, syncsKeptSince }: Verified): string {
  const old = syncsKeptSince === null ? '' : ` because they ended before ${syncsKeptSince}`;
  const left = `${withThousands(erased)} were erased by forget and purge, ${withThousands(removed)} syncs removed${old}`;
  return `Of ${withThousands(leaves)} leaves of the log the newest checkpoint covers ${withThousands(covered)}; ${left}. ${formatCount(waiting, 'change')} since then ${waiting === 1 ? 'is' : 'are'} not sealed yet. Only a checkpoint that somebody else holds helps against whoever has the key.`;
}

/** What contradicts itself, whoever is asked. */
async function check({ io, location, reader: open, pdfs }: Context, interrupted: AbortSignal) {
  const { findUnderived } = await import('./compare.js');
  const reader = await open();
  let rows = 0;
  const broken: readonly Broken[] = [
    ...(await location().engine.findBroken(io.now())),
    ...(await findUnderived(reader, looked => void (rows += looked))),
    ...(await findChangedTexts(reader)),
  ];
  const findings = await countFindings(reader);
  const { checked, faults } = await verifyFiles(reader, await pdfs(), interrupted);
  const inRows = broken.map(({ law, where, count = 1 }) => ({ check: law, where, fault: 'broken', count }));
  const inFiles = faults.map(({ file, fault }) => ({ check: 'certificates', where: file, fault }));
  return { rows, findings, files: checked, faults: [...inRows, ...inFiles] };
}

/** What was signed must still be what its SHA-256 says. */
async function findChangedTexts(reader: Reader): Promise<Broken[]> {
  const changed: Broken[] = [];
  for await (const { id, sha256, signed_data: signed } of readSignedTexts(reader)) {
    if (createHash('sha256').update(signed).digest('hex') === sha256) continue;
    changed.push({ law: 'a signed text is what its SHA-256 says', where: `signed text ${id}` });
  }
  return changed;
}

async function compare(context: Context, interrupted: AbortSignal) {
  const { compareWithRegistry } = await import('./compare.js');
  const reader = await context.reader();
  const compared = await compareWithRegistry({
    reader,
    client: await context.client(),
    turn: ({ resource, name }) => {
      demandNotInterrupted(interrupted);
      context.io.tellParent({ reading: name });
      if (context.io.terminal.stderr && isListResource(resource)) context.say(`Reading ${name} ...`);
    },
  });
  return { ...compared, known: await countKnown(reader), left: await readNotCompared(reader) };
}

/** An organization that is closed is named once, and so is one of which nothing is known yet. */
function sayLeft(context: Context, all: Awaited<ReturnType<typeof readNotCompared>>): void {
  const given = all.map(({ organization_id: id, installation_id: by, name, resource, state, reason }) => {
    const isWhole = ['suspended', 'uninstalled'].includes(reason ?? state) || resource === '*';
    const of = isWhole ? '' : `, ${resource}`;
    return `${truncateName(name ?? id ?? by)}${of}: ${wordsOf({ ...FRESH, state, reason })}`;
  });
  const left = [...new Set(given)];
  const some = [...left.slice(0, MAX_SHOWN), formatRest(left.length) ?? []].flat();
  if (left.length > 0) context.say(`Not compared: ${some.join('; ')}.`);
}
