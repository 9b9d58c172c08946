import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import { countFindings } from '../../../query/past/findings.js';
import { readSignedTexts } from '../../../query/inbox/deliveries-and-jobs.js';
import type { Broken } from '../../../engines/engine.js';
import type { Difference, NotCompared } from './compare-registry.js';
import type { Reader } from '../../../engines/contract/reader.js';
import { countKnown } from '../../../query/coverage.js';
import { andMore, MOST_SHOWN } from '../../../text/and-more.js';
import { withThousands } from '../../../text/thousands.js';
import { shortName } from '../../../text/clean.js';
import { ofKnown } from '../../../text/known.js';
import { examples } from '../../command.js';
import { connect } from '../../place/connect.js';
import { CommandFault, demandNotInterrupted, EXIT } from '../../exit.js';
import { type Io, say } from '../../io.js';
import { describeCounts, ON_FINDINGS } from '../../shown/findings.js';
import { writeRows, writeValue } from '../../output/output.js';
import { findPlace } from '../../place/find-place.js';
import { reading, withPdfs, type Place } from '../../place/place.js';

const NOT_ASKED =
  'A row that was changed together with its document looks right here; only the registry knows: "carbon-mirror verify --against-registry" asks it.';
const CLOSED = ['suspended', 'uninstalled'];

interface VerifyOptions {
  readonly againstRegistry?: boolean;
  readonly certificates?: boolean;
  readonly json?: boolean;
}

export function define(program: Command, io: Io): void {
  const command = program
    .command('verify')
    .description('Check both databases and every certificate; with --against-registry every row too')
    .option('--against-registry', 'read everything afresh and hold it against the mirror, row by row')
    .option(
      '--certificates',
      'with --against-registry: fetch every stored certificate again, and compare its bytes',
    )
    .option('--json', 'print the result as JSON')
    .action((options: VerifyOptions) => verify(io, options));
  examples(command, [
    'carbon-mirror verify',
    'carbon-mirror verify --against-registry --json',
    'carbon-mirror verify --against-registry --certificates',
  ]);
}

async function verify(io: Io, options: VerifyOptions): Promise<void> {
  if (options.certificates && !options.againstRegistry) {
    throw new CommandFault(EXIT.usage, '--certificates goes with --against-registry.');
  }
  const place = findPlace(io);
  const { verifyFiles } = await import('../certificates/files.js');
  const { findUnderived } = await import('./derived-columns.js');
  const interrupted = io.interruption();
  let rows = 0;
  const { broken, findings, certificates, compared } = await reading(place, async reader => ({
    broken: [
      ...(await place.engine.findBroken(io.now())),
      ...(await findUnderived(reader, looked => {
        rows += looked;
      })),
      ...(await findChangedTexts(reader)),
    ],
    findings: await countFindings(reader),
    certificates: await withPdfs(place, io.now, pdfs => verifyFiles(reader, pdfs, null, interrupted)),
    compared: options.againstRegistry ? await compare(io, place, reader, options, interrupted) : null,
  }));
  const faults = [
    ...broken.map(fromLaw),
    ...certificates.faults.map(fault => ({ check: 'certificates', where: fault.file, fault: fault.fault })),
    ...(compared?.differences ?? []).map(fromDifference),
  ];
  if (options.json)
    await writeValue(io, {
      faults,
      findings,
      rows_checked: rows,
      certificates: certificates.checked,
      rows: compared?.rows ?? null,
      organizations: compared?.organizations ?? null,
      known: compared?.known ?? null,
      not_compared: compared?.notCompared.map(({ name: _, ...each }) => each) ?? null,
    });
  else if (faults.length > 0) await writeRows(io, 'table', ['check', 'where', 'fault'], faults);
  const found = describeCounts(findings);
  if (found !== null) say(io, `What the registry says, and is no fault here: ${found}. ${ON_FINDINGS}`);
  const left = [...new Set(compared?.notCompared.map(describeLeft))];
  if (left.length > 0)
    say(io, `Not compared: ${[...left.slice(0, MOST_SHOWN), andMore(left.length) ?? []].flat().join('; ')}.`);
  if (faults.length === 0 && compared?.rows === 0) {
    throw new CommandFault(
      EXIT.checkFailed,
      'Nothing was compared with the registry: there is no row that can be read there.',
      '"carbon-mirror status" says what each organization lets be read.',
    );
  }
  if (faults.length === 0) {
    const checked = `${withThousands(rows)} rows, past ones too, and ${withThousands(certificates.checked)} certificates`;
    say(io, `${place.engine.checked}. Nothing in the mirror contradicts itself: ${checked}.`);
    return say(io, compared === null ? NOT_ASKED : describeCompared(compared));
  }
  throw new CommandFault(
    EXIT.checkFailed,
    `Faults: ${faults.length}.`,
    'What the registry shows is restored by "carbon-mirror sync --full"; dates, what stood before and broken files by a backup.',
  );
}

/** What was signed must still be what its digest says. */
async function findChangedTexts(reader: Reader): Promise<Broken[]> {
  const changed: Broken[] = [];
  for await (const { id, digest, signed_data: text } of readSignedTexts(reader)) {
    if (createHash('sha256').update(text).digest('hex') === digest) continue;
    changed.push({ law: 'a signed text is what its digest says', where: `signed text ${id}` });
  }
  return changed;
}

async function compare(
  io: Io,
  place: Place,
  reader: Reader,
  options: VerifyOptions,
  interrupted: AbortSignal,
) {
  const { compareWithRegistry, findNotCompared } = await import('./compare-registry.js');
  const { compareSingles } = await import('./compare-single.js');
  const client = await connect(place, io);
  const lists = await compareWithRegistry(reader, client, ({ organization_id: organization, resource }) => {
    if (io.terminal.stderr) say(io, `Reading ${resource} of ${organization} ...`);
  });
  const certificates = options.certificates === true;
  const turn = () => demandNotInterrupted(interrupted);
  const singles = await compareSingles({ reader, client, certificates, turn });
  return {
    rows: lists.rows + singles.rows,
    organizations: lists.organizations,
    known: await countKnown(reader),
    differences: [...lists.differences, ...singles.differences],
    notCompared: await findNotCompared(reader),
  };
}

function describeCompared({ rows, organizations, known }: Awaited<ReturnType<typeof compare>>): string {
  const whose = `${organizations} of ${ofKnown(known)}`;
  return `${withThousands(rows)} rows of ${whose} are as at the registry. With dates and past rows nothing there can be compared.`;
}

/** An organization that is closed is named once, and so is one of which nothing is known yet. */
function describeLeft({
  organization_id: id,
  installation_id: by,
  name,
  resource,
  state,
}: NotCompared): string {
  const whose = shortName(name ?? id ?? by);
  return CLOSED.includes(state) || resource === '*'
    ? `${whose}: ${state.replaceAll('_', ' ')}`
    : `${whose}, ${resource}: ${state.replaceAll('_', ' ')}`;
}

function fromLaw({ law, where }: Broken) {
  return { check: law, where, fault: 'broken' };
}

function fromDifference({ organization_id: organization, resource, key, difference }: Difference) {
  return { check: `${resource} of ${organization}`, where: key, fault: difference };
}
