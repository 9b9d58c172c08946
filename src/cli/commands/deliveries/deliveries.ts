import { type Command, Option } from 'commander';
import { DELIVERY_COLUMNS, readDeliveries, readDelivery } from '../../../query/inbox/deliveries-and-jobs.js';
import { readRefusals, REFUSAL_COLUMNS } from '../../../query/inbox/refusals.js';
import { excessOf } from '../../../registry/json/json-text.js';
import { maskLooks } from '../../../registry/http/mask.js';
import { examples } from '../../command.js';
import { CommandFault, EXIT } from '../../exit.js';
import { withEnds } from '../../../query/inbox/ends.js';
import { askToLook } from '../../place/inbox-writer.js';
import { type Io, print, say } from '../../io.js';
import { sheet } from '../../shown/sheet.js';
import { installationOfDeliveries } from '../../named/in-mirror.js';
import { jsonText, writeRows, writeValue } from '../../output/output.js';
import { reading, type Place } from '../../place/place.js';
import { readLimit, readNumber } from '../../words.js';
import { tail } from './tail.js';
import { findPlace } from '../../place/find-place.js';

interface ListOptions {
  readonly setAside?: boolean;
  readonly refused?: boolean;
  readonly installation?: string;
  readonly limit: string;
  readonly json?: boolean;
}

export function define(program: Command, io: Io): void {
  const group = examples(
    program.command('deliveries').description('Webhooks that arrived, and what became of them'),
    [
      'carbon-mirror deliveries list --set-aside',
      'carbon-mirror deliveries list --refused',
      'carbon-mirror deliveries show 42',
      'carbon-mirror deliveries tail',
      'carbon-mirror deliveries replay 42',
    ],
  );
  group
    .command('list')
    .description('List deliveries, newest first')
    .option('--set-aside', 'only those that lead to no read')
    .option('--installation <name>', 'of one installation only: its id, its beginning, or its organization')
    .addOption(
      new Option('--refused', 'count what was turned away instead, by minute and reason').conflicts([
        'setAside',
        'installation',
      ]),
    )
    .addOption(new Option('--limit <n>', 'show at most so many').default('50'))
    .option('--json', 'print the rows as JSON')
    .action((options: ListOptions) => list(io, options));
  group
    .command('show')
    .description('Show one delivery: what was signed, and what became of it')
    .argument('<id>', 'its number')
    .option('--json', 'print it as JSON')
    .action((id: string, options: { json?: boolean }) => show(io, id, options));
  group
    .command('tail')
    .description('Print deliveries as they arrive, and what became of them as it ends, until it is stopped')
    .option('--json', 'print one JSON object a line: each delivery as it arrives, and again at its end')
    .action((options: { json?: boolean }) => tail(io, options));
  group
    .command('replay')
    .description('Do again what a delivery asked for: look at its installation')
    .argument('<id>', 'its number')
    .option('--json', 'print the job as JSON')
    .action((id: string, options: { json?: boolean }) => replay(io, id, options));
}

async function list(io: Io, options: ListOptions): Promise<void> {
  if (options.refused) return await listRefused(io, options);
  const rows = await reading(
    findPlace(io),
    async reader =>
      await withEnds(
        reader,
        await readDeliveries(reader, {
          verdict: options.setAside ? 'set_aside' : null,
          installationId: await installationOfDeliveries(reader, options.installation),
          after: 0,
          limit: readLimit(options.limit) || null,
        }),
      ),
  );
  await writeRows(io, options.json ? 'json' : 'table', DELIVERY_COLUMNS, rows, {
    keep: ['id'],
    none: options.setAside ? 'No delivery was set aside.' : 'No delivery has come.',
  });
}

async function listRefused(io: Io, options: ListOptions): Promise<void> {
  const limit = readLimit(options.limit) || null;
  const rows = await reading(findPlace(io), async reader => await readRefusals(reader, limit));
  await writeRows(io, options.json ? 'json' : 'table', REFUSAL_COLUMNS, rows, { none: '' });
  say(
    io,
    rows.length === 0
      ? 'The receiver has turned nothing away.'
      : 'Minutes are in UTC. "carbon-mirror doctor" says what may be wrong.',
  );
}

async function show(io: Io, id: string, options: { json?: boolean }): Promise<void> {
  const { delivery, signedData } = await find(findPlace(io), id);
  const content = signedData === null ? null : decode(signedData);
  if (options.json) return await writeValue(io, { ...delivery, signed_data: signedData, content });
  await print(io, ...sheet(delivery));
  if (signedData === null)
    say(io, 'The signed text was removed: it is older than RETENTION_DAYS, or a person was forgotten.');
  else
    await print(io, ...maskLooks(typeof content === 'string' ? content : jsonText(content, 2)).split('\n'));
  return undefined;
}

async function replay(io: Io, id: string, options: { json?: boolean }): Promise<void> {
  const place = findPlace(io);
  const { delivery } = await find(place, id);
  const installationId = delivery['installation_id'];
  if (typeof installationId !== 'string') {
    throw new CommandFault(
      EXIT.checkFailed,
      `Delivery ${id} names no usable installation: there is nothing to look at.`,
      `It was set aside: ${String(delivery['reason'])}.`,
    );
  }
  const job = await askToLook(place, installationId, io.now);
  if (options.json) return await writeValue(io, { delivery: Number(id), job });
  say(io, `Job ${job} will look at installation ${installationId}: "carbon-mirror jobs show ${job}".`);
  return undefined;
}

async function find(place: Place, id: string) {
  const number = readNumber('the delivery', id);
  const found = await reading(place, async reader => {
    const one = await readDelivery(reader, number);
    if (one === null) return null;
    const [delivery = one.delivery] = await withEnds(reader, [one.delivery]);
    return { ...one, delivery };
  });
  if (found !== null) return found;
  throw new CommandFault(
    EXIT.notThere,
    `There is no delivery ${id}.`,
    'See "carbon-mirror deliveries list".',
  );
}

/** JSON that could be read but not written again stays the text that it is. */
function decode(signedData: string): unknown {
  const text = Buffer.from(signedData, 'base64').toString('utf8');
  if (excessOf(text) !== null) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
