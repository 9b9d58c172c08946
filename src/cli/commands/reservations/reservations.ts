/**
 * The commands that write to the registry: create, finish and cancel a reservation. Each asks first, calls the registry once, prints
 * the reservation, and asks the mirror to read the organization. A call is never repeated here: the client itself finds out whether
 * a write whose answer was lost has succeeded.
 */
import { formatFinishCommand } from '../../../text/reservation-commands.js';
import { createInstallationJob } from '../../../inbox/job.js';
import type { Reservation } from '../../../registry/object-models.js';
import { getReservationState } from '../../../registry/reservation-state.js';
import { LISTS } from '../../../resources/lists.js';
import { defineCommand } from '../../define-command.js';
import type { CommandContext } from '../../context.js';
import { createCheckError } from '../../command-error.js';
import {
  requirePrintable,
  defineParsedText,
  defineRegistryId,
  defineText,
  makeRequired,
  NAME_HINT,
  YES_OPTION,
} from '../../options.js';
import type { Row } from '../../output/output-formats.js';
import { formatRowSheet, toMirrorColumns } from '../../output/row-sheet.js';
import { requireConfirmation } from './confirm.js';
import {
  connectToOrganization,
  findCreditId,
  findReservation,
  type OrganizationAccess,
} from './find-targets.js';
import { parseAmount, reserveCredits } from './reserve.js';
import { describeFinishAction, FINISH_OPTIONS, parseFinishOptions } from './finish-options.js';

const CREDIT_ID_OPTION = defineParsedText('id', 'credit id, or its first characters', value =>
  requirePrintable('--credit-id', value),
);
const RESERVATION_ID = defineRegistryId('the reservation', 'reservation id, or its first characters');
/** Accepts ids as tables print them: a shortened one ends with `…`. */
const RESERVATION_ARGUMENT = {
  id: makeRequired({
    ...RESERVATION_ID,
    parse: (given, io) => RESERVATION_ID.parse(String(given).replace(/…$/, ''), io),
  }),
};
const OWNER_OPTION = defineText(
  'name',
  'the organization of the reservation; required if the mirror has not read the reservation yet',
);
const JSON_FORMAT = { json: 'print the reservation as JSON' };

const create = defineCommand({
  summary: 'Reserve credits for ten minutes',
  details: 'The registry releases the credits if you do not finish the reservation by then.',
  options: {
    organization: makeRequired(defineText('name', `the organization that offers the credits${NAME_HINT}`)),
    creditId: makeRequired(CREDIT_ID_OPTION),
    amount: makeRequired(defineText('tonnes', 'amount in tonnes')),
    yes: YES_OPTION,
  },
  formats: JSON_FORMAT,
  examples: ['carbon-mirror reservations create --organization ID --credit-id ID --amount 12.5'],
  run: async (context, given) => {
    const amount = parseAmount(given.amount);
    const access = await connectToOrganization(context, given.organization);
    const { organizationId } = access;
    const creditId = await findCreditId(context, given.creditId, organizationId);
    const action = `Reserve ${amount} t of ${creditId} of the organization ${organizationId} for ten minutes.`;
    await requireConfirmation(context.io, action, { yes: given.yes });
    const reservation = await reserveCredits(access, { creditId, amount });
    const { id } = reservation;
    // Without a terminal, both commands are refused unless they have --yes.
    const yesOption = context.io.terminal.stdin ? '' : ' --yes';
    await reportReservation(context, access, reservation, [
      `To retire it: ${formatFinishCommand(id, organizationId)}${yesOption}`,
      `To release it: carbon-mirror reservations cancel ${id} --organization ${organizationId}${yesOption}`,
    ]);
  },
});

const finish = defineCommand({
  summary: 'Retire or transfer reserved credits',
  args: RESERVATION_ARGUMENT,
  options: {
    organization: OWNER_OPTION,
    ...FINISH_OPTIONS,
    transferComment: defineText('text', 'comment on the transfer'),
    yes: YES_OPTION,
  },
  formats: JSON_FORMAT,
  examples: [
    'carbon-mirror reservations finish ID --action retire --beneficiary "Harbour Ferries" --reason "Voluntary purposes"',
  ],
  run: async (context, given) => {
    const { action, transferComment } = given;
    const body = { ...parseFinishOptions(given), transferComment };
    const finished = await endReservation(context, given, {
      describeAction: credits => describeFinishAction(credits, given),
      endAtRegistry: ({ organization }, id) => organization.finishReservation(id, action, body),
    });
    if (FAILED_STATES.includes(finished?.state?.toLowerCase() ?? ''))
      throw createCheckError(TRANSACTION_FAILED);
    if (finished !== null && action !== 'transfer') context.printNotice(MAY_BE_PENDING);
  },
});

const cancel = defineCommand({
  alias: 'release',
  summary: 'Release reserved credits',
  args: RESERVATION_ARGUMENT,
  options: { organization: OWNER_OPTION, yes: YES_OPTION },
  formats: JSON_FORMAT,
  examples: ['carbon-mirror reservations cancel ID'],
  run: (context, given) =>
    endReservation(context, given, {
      describeAction: credits => `Release ${credits}.`,
      endAtRegistry: ({ organization }, id) => organization.cancelReservation(id),
    }),
});

/** States of a transaction that failed after the registry had accepted the call. */
const FAILED_STATES = ['cancelled', 'failed'];
const TRANSACTION_FAILED = 'The transaction failed at the registry. The credits are back in the warehouse.';
const MAY_BE_PENDING =
  'The retirement may still be pending. "carbon-mirror retirements list" shows it once it is done.';

/** Commands of reservations besides `list` and `show`. */
export const RESERVATIONS = { create, finish, cancel };

interface ReservationArguments {
  /** The id, or its start. */
  readonly id: string;
  readonly organization: string | undefined;
  readonly yes: boolean;
}

interface ReservationEnding {
  /** Returns the sentence that the user confirms, for credits such as `10 t of X`. */
  readonly describeAction: (credits: string) => string;
  /** Ends the reservation at the registry. Returns null if the registry no longer shows it. */
  readonly endAtRegistry: (access: OrganizationAccess, id: string) => Promise<Reservation | null>;
}

/** Asks for confirmation and ends the reservation at the registry. Returns null if the registry no longer shows it. */
async function endReservation(
  context: CommandContext,
  { id: idStart, organization: owner, yes }: ReservationArguments,
  { describeAction, endAtRegistry }: ReservationEnding,
): Promise<Reservation | null> {
  const { id, organization } = await findReservation(context, idStart, owner);
  const access = await connectToOrganization(context, organization);
  const { amount, creditId, project } = await access.organization.readReservation(id);
  const projectName = project?.fullName ? ` (${project.fullName})` : '';
  const credits = `${amount.exact ?? '?'} t of ${creditId}${projectName}`;
  await requireConfirmation(context.io, `${describeAction(credits)} This cannot be undone.`, { yes });
  const ended = await endAtRegistry(access, id);
  const notices = ended === null ? ['Done. The registry no longer shows the reservation.'] : [];
  await reportReservation(context, access, ended, notices);
  return ended;
}

/** Prints a reservation (null if the registry no longer shows it) and notices. Then enqueues a job that updates the mirror. */
async function reportReservation(
  context: CommandContext,
  access: OrganizationAccess,
  reservation: Reservation | null,
  notices: readonly string[],
): Promise<void> {
  const row = reservation === null ? null : toReservationRow(reservation, access);
  if (context.format === 'json') await context.printJson(row);
  else if (row !== null) await context.printLines(...formatRowSheet({ ...row, document: null }));
  context.printNotice(...notices);
  await requestRead(context, access.installationId);
}

/** Converts a reservation from the registry to a row for output, with its state and the seconds left. */
function toReservationRow(reservation: Reservation, { registry, organizationId }: OrganizationAccess): Row {
  const now = registry.http.localNow() + (registry.http.clockSkewMs() ?? 0);
  const state = getReservationState(reservation, now);
  const secondsLeft = Math.floor((Date.parse(reservation.reservedToDate ?? '') - now) / 1000);
  return {
    ...toMirrorColumns(LISTS.reservations, reservation),
    organization_id: organizationId,
    state_now: state,
    seconds_left: state === 'outstanding' && secondsLeft > 0 ? secondsLeft : null,
    document: reservation.document,
  };
}

/** Enqueues a job that reads the organization of an installation. Prints errors instead of throwing. */
async function requestRead(context: CommandContext, installationId: string): Promise<void> {
  try {
    await (await context.openInbox()).enqueue([createInstallationJob(installationId, null, 'person')]);
    context.printNotice('The mirror will show it after the next read by a worker.');
  } catch (error) {
    // The change at the registry succeeded, so the command must not fail.
    context.printNotice(
      `Could not ask the mirror to read it: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}
