import type { Command } from 'commander';
import type { Reservation } from '../../../registry/model.js';
import { LISTS } from '../../../resources/lists.js';
import { examples } from '../../command.js';
import { confirm } from '../../confirm.js';
import { type Io, print, say } from '../../io.js';
import { HOW_NAMED } from '../../named/how-named.js';
import { reservationRow, withMinutes } from '../../shown/made-rows.js';
import { sheet } from '../../shown/sheet.js';
import { addMovementOptions, describeMovement, type MovementOptions, readMovement } from './movement.js';
import { writeValue } from '../../output/output.js';
import { findSettings } from '../../place/find-place.js';
import type { Place } from '../../place/place.js';
import { lookAgain, type Reached, reachOrganization } from './reach-organization.js';
import { findCredit, findOwner } from './find-owner.js';
import { readId, readPrintable } from '../../words.js';

interface CreateOptions {
  readonly organization: string;
  readonly creditId: string;
  readonly amount: string;
  readonly json?: boolean;
}

interface EndOptions {
  readonly organization?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

interface FinishOptions extends EndOptions, MovementOptions {
  readonly transferComment?: string;
}

/** What changes a reservation, beside the commands that show it. */
export function defineReservationWrites(group: Command, io: Io): void {
  defineCreate(group, io);
  defineFinish(group, io);
  defineCancel(group, io);
}

function defineCreate(group: Command, io: Io): void {
  const command = group
    .command('create')
    .description('Hold credits of a warehouse; what is not finished in ten minutes goes back by itself')
    .requiredOption('--organization <name>', `whose warehouse it is: ${HOW_NAMED}`)
    .requiredOption('--credit-id <id>', 'the credit, or the beginning of its id')
    .requiredOption('--amount <tonnes>', 'how much')
    .option('--json', 'print the reservation as JSON')
    .action((options: CreateOptions) => create(io, options));
  examples(command, ['carbon-mirror reservations create --organization ID --credit-id ID --amount 12.5']);
}

async function create(io: Io, options: CreateOptions): Promise<void> {
  const named = readPrintable('--credit-id', options.creditId);
  const place = findSettings(io);
  const reached = await reachOrganization(io, place, options.organization);
  const creditId = await findCredit(place, LISTS.warehouse, named, reached.organization);
  const made = await reached.owner.reserve({ creditId, amount: options.amount });
  await show(io, place, reached, made, options);
  const rest = `${made.id} --organization ${reached.organization}`;
  say(io, `To use it:       carbon-mirror reservations finish ${rest} --action ...`);
  say(io, `To give it back: carbon-mirror reservations cancel ${rest}`);
}

function defineFinish(group: Command, io: Io): void {
  const command = addMovementOptions(
    group
      .command('finish')
      .description('Transfer or retire the credits that a reservation holds')
      .argument('<id>', 'the reservation')
      .option('--organization <name>', 'whose it is, where the mirror does not know yet'),
  )
    .option('--transfer-comment <text>', 'anything to say of the transfer')
    .option('--yes', 'do it without a question')
    .option('--json', 'print the reservation as JSON')
    .action((id: string, options: FinishOptions) => finish(io, id, options));
  examples(command, [
    'carbon-mirror reservations finish ID --action transfer --receiver-id ID',
    'carbon-mirror reservations finish ID --action retire --beneficiary "Harbour Ferries" --reason "Voluntary purposes"',
  ]);
}

async function finish(io: Io, id: string, options: FinishOptions): Promise<void> {
  const movement = readMovement(options);
  const { place, reached, held } = await find(io, id, options);
  await confirm(io, describeMovement(describeHold(held), options), options);
  const request = { ...movement, transferComment: options.transferComment };
  const ended = await reached.owner.finishReservation(id, options.action, request);
  await show(io, place, reached, ended, options);
}

function defineCancel(group: Command, io: Io): void {
  const command = group
    .command('cancel')
    .description('Give the credits back that a reservation holds')
    .argument('<id>', 'the reservation')
    .option('--organization <name>', 'whose it is, where the mirror does not know yet')
    .option('--yes', 'do it without a question')
    .option('--json', 'print the reservation as JSON')
    .action(async (id: string, options: EndOptions) => {
      const { place, reached, held } = await find(io, id, options);
      await confirm(io, `Give back ${describeHold(held)}.`, options);
      await show(io, place, reached, await reached.owner.cancelReservation(id), options);
    });
  examples(command, [
    'carbon-mirror reservations cancel ID',
    'carbon-mirror reservations cancel ID --yes --json',
  ]);
}

/** The reservation as it is now, so that a person is asked about what will really happen. */
async function find(io: Io, id: string, options: EndOptions) {
  readId('the reservation', id);
  const place = findSettings(io);
  const organization = await findOwner(place, LISTS.reservations, id, options.organization);
  const reached = await reachOrganization(io, place, organization);
  return { place, reached, held: await reached.owner.readReservation(id) };
}

function describeHold({ amount, creditId, project }: Reservation): string {
  return `${amount.exact ?? '?'} t of ${creditId}${project?.fullName ? ` (${project.fullName})` : ''}`;
}

async function show(
  io: Io,
  place: Place,
  { client, organization, installationId }: Reached,
  reservation: Reservation | null,
  options: { readonly json?: boolean },
): Promise<void> {
  const row = reservation && withMinutes(reservationRow(client, reservation, organization));
  if (options.json) await writeValue(io, row);
  else if (row !== null) await print(io, ...sheet({ ...row, document: null }));
  if (row === null) say(io, 'It is done; the registry shows the reservation no more.');
  await lookAgain(io, place, installationId);
}
