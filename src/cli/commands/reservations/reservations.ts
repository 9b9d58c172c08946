import { installationJob } from '../../../inbox/job.js';
import type { Reservation } from '../../../registry/model.js';
import { getReservationState } from '../../../registry/reservation-state.js';
import { LISTS } from '../../../resources/lists.js';
import { command } from '../../command.js';
import type { Context } from '../../context.js';
import { checkFault } from '../../exit.js';
import { anId, HOW_NAMED, needed, readPrintable, text, valued, YES } from '../../options.js';
import type { Row } from '../../output/output.js';
import { cellsOf, sheet } from '../../output/sheet.js';
import { confirm } from './confirm.js';
import { describeMovement, MOVEMENT, readMovement } from './movement.js';
import { findCredit, findReservation, type Reached, reach } from './reach.js';

const CREDIT = valued('id', 'the credit, or the beginning of its id', given =>
  readPrintable('--credit-id', given),
);
const WHOLE_ID = anId('the reservation', 'the reservation, or the beginning of its id');
/** A table prints `…` behind the beginning of an id. */
const ID = {
  id: needed({ ...WHOLE_ID, read: (given, io) => WHOLE_ID.read(String(given).replace(/…$/, ''), io) }),
};
const OWNER = text('name', 'whose it is, where the mirror does not know yet');
const AS_JSON = { json: 'print the reservation as JSON' };

const create = command({
  says: 'Reserve credits of a warehouse; what is not finished in ten minutes goes back by itself',
  options: {
    organization: needed(text('name', `whose warehouse it is: ${HOW_NAMED}`)),
    creditId: needed(CREDIT),
    amount: needed(text('tonnes', 'how much')),
  },
  prints: AS_JSON,
  examples: ['carbon-mirror reservations create --organization ID --credit-id ID --amount 12.5'],
  run: async (context, { amount, ...given }) => {
    const reached = await reach(context, given.organization);
    const { owner, organizationId: id } = reached;
    const creditId = await findCredit(context, given.creditId, id);
    const made = await owner.reserve({ creditId, amount });
    await show(context, reached, made, [
      `To use it:       carbon-mirror reservations finish ${made.id} --organization ${id} --action ...`,
      `To give it back: carbon-mirror reservations cancel ${made.id} --organization ${id}`,
    ]);
  },
});

const finish = command({
  says: 'Retire or transfer what is reserved, as --action says',
  words: ID,
  options: {
    organization: OWNER,
    ...MOVEMENT,
    transferComment: text('text', 'anything to say of the transfer'),
    yes: YES,
  },
  prints: AS_JSON,
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
    if (FAILED.includes(ended?.state?.toLowerCase() ?? '')) throw checkFault(NOT_CARRIED_OUT);
    if (ended !== null && action !== 'transfer') context.say(MAY_WAIT);
  },
});

const cancel = command({
  says: 'Give back the credits of a reservation',
  words: ID,
  options: { organization: OWNER, yes: YES },
  prints: AS_JSON,
  examples: ['carbon-mirror reservations cancel ID'],
  run: (context, given) =>
    end(context, given, {
      asks: what => `Give back ${what}.`,
      call: ({ owner }, id) => owner.cancelReservation(id),
    }),
});

/** The registry takes the call, and carries it out after that. */
const FAILED = ['cancelled', 'failed'];
const NOT_CARRIED_OUT =
  'The registry did not carry it out: the transaction failed; the credits are back in the warehouse.';
const MAY_WAIT =
  'It may still wait at the registry: "carbon-mirror retirements list" shows it once it is retired.';

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
async function end(context: Context, { id: named, organization, yes }: Named, { asks, call }: End) {
  const { id, whose } = await findReservation(context, named, organization);
  const reached = await reach(context, whose);
  const { amount, creditId, project } = await reached.owner.readReservation(id);
  const of = project?.fullName ? ` (${project.fullName})` : '';
  await confirm(context.io, asks(`${amount.exact ?? '?'} t of ${creditId}${of}`), { yes });
  const ended = await call(reached, id);
  const gone = ended === null ? ['It is done; the registry shows the reservation no more.'] : [];
  await show(context, reached, ended, gone);
  return ended;
}

async function show(
  context: Context,
  reached: Reached,
  made: Reservation | null,
  tells: readonly string[],
): Promise<void> {
  const row = made === null ? null : rowOf(made, reached);
  if (context.format === 'json') await context.value(row);
  else if (row !== null) await context.print(...sheet({ ...row, document: null }));
  context.say(...tells);
  await lookAgain(context, reached.installationId);
}

/** By the registry's clock where it is known: that clock ends the reservation. */
function rowOf(made: Reservation, { client, organizationId }: Reached): Row {
  const now = client.http.localNow() + (client.http.clockSkewMs() ?? 0);
  const state = getReservationState(made, now);
  const seconds = Math.floor((Date.parse(made.reservedToDate ?? '') - now) / 1000);
  return {
    ...cellsOf(LISTS.reservations, made),
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
async function lookAgain(context: Context, installationId: string): Promise<void> {
  try {
    await (await context.inbox()).enqueue([installationJob(installationId, null, 'person')]);
    context.say('The mirror shows it as soon as a worker has read it.');
  } catch (error) {
    context.say(
      `The mirror was not asked to read: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}
