import { createInstallationJob } from '../../../inbox/job.js';
import type { Reservation } from '../../../registry/model.js';
import { getReservationState } from '../../../registry/reservation-state.js';
import { LISTS } from '../../../resources/lists.js';
import { defineCommand } from '../../command.js';
import type { CommandContext } from '../../context.js';
import { createCheckError } from '../../exit.js';
import {
  defineRegistryId,
  NAME_HINT,
  makeRequired,
  requirePrintable,
  defineText,
  defineParsedText,
  YES_OPTION,
} from '../../options.js';
import type { Row } from '../../output/formats.js';
import { toMirrorColumns, formatRowSheet } from '../../output/row-sheet.js';
import { confirm } from './confirm.js';
import { describeMovement, MOVEMENT, readMovement } from './movement.js';
import { findCredit, findReservation, type Reached, reach } from './reach.js';

const CREDIT = defineParsedText('id', 'credit id, or its start', given =>
  requirePrintable('--credit-id', given),
);
const WHOLE_ID = defineRegistryId('the reservation', 'reservation id, or its start');
/** A table prints `…` behind the beginning of an id. */
const ID = {
  id: makeRequired({
    ...WHOLE_ID,
    parse: (given, io) => WHOLE_ID.parse(String(given).replace(/…$/, ''), io),
  }),
};
const OWNER = defineText('name', 'the organization it belongs to, if the mirror does not know it yet');
const AS_JSON = { json: 'print the reservation as JSON' };

const create = defineCommand({
  summary: 'Reserve credits for ten minutes',
  details: 'If it is not finished by then, the registry releases the credits.',
  options: {
    organization: makeRequired(defineText('name', `the organization that offers the credits${NAME_HINT}`)),
    creditId: makeRequired(CREDIT),
    amount: makeRequired(defineText('tonnes', 'amount in tonnes')),
  },
  formats: AS_JSON,
  examples: ['carbon-mirror reservations create --organization ID --credit-id ID --amount 12.5'],
  run: async (context, { amount, ...given }) => {
    const reached = await reach(context, given.organization);
    const { owner, organizationId: id } = reached;
    const creditId = await findCredit(context, given.creditId, id);
    const made = await owner.reserve({ creditId, amount });
    await show(context, reached, made, [
      `To finish it: carbon-mirror reservations finish ${made.id} --organization ${id} --action ...`,
      `To release it: carbon-mirror reservations cancel ${made.id} --organization ${id}`,
    ]);
  },
});

const finish = defineCommand({
  summary: 'Retire or transfer reserved credits',
  args: ID,
  options: {
    organization: OWNER,
    ...MOVEMENT,
    transferComment: defineText('text', 'comment on the transfer'),
    yes: YES_OPTION,
  },
  formats: AS_JSON,
  examples: [
    'carbon-mirror reservations finish ID --action retire --beneficiary "Harbour Ferries" --reason "Voluntary purposes"',
  ],
  run: async (context, given) => {
    const { action, transferComment } = given;
    const body = { ...readMovement(given), transferComment };
    const ended = await end(context, given, {
      asks: what => describeMovement(what, given),
      call: ({ owner }, id) => owner.finishReservation(id, action, body),
    });
    if (FAILED.includes(ended?.state?.toLowerCase() ?? '')) throw createCheckError(NOT_CARRIED_OUT);
    if (ended !== null && action !== 'transfer') context.printNotice(MAY_WAIT);
  },
});

const cancel = defineCommand({
  summary: 'Release reserved credits',
  args: ID,
  options: { organization: OWNER, yes: YES_OPTION },
  formats: AS_JSON,
  examples: ['carbon-mirror reservations cancel ID'],
  run: (context, given) =>
    end(context, given, {
      asks: what => `Release ${what}.`,
      call: ({ owner }, id) => owner.cancelReservation(id),
    }),
});

/** The registry takes the call, and carries it out after that. */
const FAILED = ['cancelled', 'failed'];
const NOT_CARRIED_OUT = 'The transaction failed at the registry. The credits are back in the warehouse.';
const MAY_WAIT =
  'The retirement may still be pending. "carbon-mirror retirements list" shows it once it is done.';

/** Beside the commands that show what was written. */
export const RESERVATIONS = { create, finish, cancel };

interface Named {
  readonly id: string;
  readonly organization: string | undefined;
  readonly yes: boolean;
}

interface End {
  readonly asks: (what: string) => string;
  /** Made once: the client itself looks for one whose answer was lost. Null where the registry shows what came of it no more. */
  readonly call: (reached: Reached, id: string) => Promise<Reservation | null>;
}

/** It is read first, so that a person is asked about what will really happen. */
async function end(context: CommandContext, { id: named, organization, yes }: Named, { asks, call }: End) {
  const { id, whose } = await findReservation(context, named, organization);
  const reached = await reach(context, whose);
  const { amount, creditId, project } = await reached.owner.readReservation(id);
  const of = project?.fullName ? ` (${project.fullName})` : '';
  await confirm(context.io, asks(`${amount.exact ?? '?'} t of ${creditId}${of}`), { yes });
  const ended = await call(reached, id);
  const gone = ended === null ? ['Done. The registry no longer shows the reservation.'] : [];
  await show(context, reached, ended, gone);
  return ended;
}

async function show(
  context: CommandContext,
  reached: Reached,
  made: Reservation | null,
  tells: readonly string[],
): Promise<void> {
  const row = made === null ? null : rowOf(made, reached);
  if (context.format === 'json') await context.printJson(row);
  else if (row !== null) await context.printLines(...formatRowSheet({ ...row, document: null }));
  context.printNotice(...tells);
  await lookAgain(context, reached.installationId);
}

/** By the registry's clock where it is known: that clock ends the reservation. */
function rowOf(made: Reservation, { client, organizationId }: Reached): Row {
  const now = client.http.localNow() + (client.http.clockSkewMs() ?? 0);
  const state = getReservationState(made, now);
  const seconds = Math.floor((Date.parse(made.reservedToDate ?? '') - now) / 1000);
  return {
    ...toMirrorColumns(LISTS.reservations, made),
    organization_id: organizationId,
    state_now: state,
    seconds_left: state === 'outstanding' && seconds > 0 ? seconds : null,
    document: made.document,
  };
}

/**
 * Most of what an app does itself is followed by no webhook, so the mirror is told to read again.
 * The write has been done by now: whatever fails here must not make it look undone.
 */
async function lookAgain(context: CommandContext, installationId: string): Promise<void> {
  try {
    await (await context.openInbox()).enqueue([createInstallationJob(installationId, null, 'person')]);
    context.printNotice('The mirror will show it after the next read by a worker.');
  } catch (error) {
    context.printNotice(
      `Could not ask the mirror to read it: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}
