import type { Reservation } from '../../../registry/model.js';
import { reservationState } from '../../../registry/reservation-state.js';
import { LISTS } from '../../../resources/lists.js';
import { command } from '../../command.js';
import type { Row } from '../../output/output.js';
import { cellsOf } from '../../output/sheet.js';
import { anId, HOW_NAMED, needed, readPrintable, text, valued, YES } from '../../options.js';
import { describeMovement, MOVEMENT, readMovement } from './movement.js';
import { findCredit, type Reached, reach, reachReservation } from './reach.js';
import { write } from './write.js';

const CREDIT = {
  creditId: needed(
    valued('id', 'the credit, or the beginning of its id', given => readPrintable('--credit-id', given)),
  ),
  amount: needed(text('tonnes', 'how much')),
};
const RESERVATION = { id: needed(anId('the reservation', 'the reservation')) };
const OWNER = text('name', 'whose it is, where the mirror does not know yet');
const AS_JSON = { json: 'print the reservation as JSON' };

const request = command({
  says: 'Ask an organization to transfer or retire credits of its inventory',
  options: {
    organization: needed(text('name', `whose inventory it is: ${HOW_NAMED}`)),
    ...CREDIT,
    ...MOVEMENT,
    yes: YES,
  },
  prints: { json: 'print the request as JSON' },
  examples: [
    'carbon-mirror inventory-requests create --organization ID --credit-id ID --amount 5 --action retire --beneficiary "Harbour Ferries" --reason "Voluntary purposes" --yes',
  ],
  run: async (context, given) => {
    const { action, amount, yes } = given;
    const { receiverId: toOrganizationId, receiverAddress: toAddress, retirementData } = readMovement(given);
    const { owner, organization, installationId } = await reach(context, given.organization);
    const creditId = await findCredit(context, LISTS.inventory, given.creditId, organization);
    const what = describeMovement(`${amount} t of ${creditId}`, given);
    const body = { creditId, amount, toOrganizationId, toAddress, retirementData };
    await write(context, {
      asks: { what: `Ask the administrators of ${organization}: ${what}`, yes },
      installationId,
      call: async () => {
        const made = await owner.requestInventoryAction(action, body);
        const { fromOrganizationId: organization_id, document } = made;
        return { ...cellsOf(LISTS.inventory_requests, made), organization_id, document };
      },
      tells: () => ['It waits for an administrator of the organization.'],
    });
  },
});

const reserve = command({
  says: 'Reserve credits of a warehouse; what is not finished in ten minutes goes back by itself',
  options: { organization: needed(text('name', `whose warehouse it is: ${HOW_NAMED}`)), ...CREDIT },
  prints: AS_JSON,
  examples: ['carbon-mirror reservations create --organization ID --credit-id ID --amount 12.5'],
  run: async (context, { amount, ...given }) => {
    const reached = await reach(context, given.organization);
    const { owner, organization, installationId } = reached;
    const creditId = await findCredit(context, LISTS.warehouse, given.creditId, organization);
    await write(context, {
      installationId,
      call: async () => reservationShown(await owner.reserve({ creditId, amount }), reached),
      tells: row => [
        `To use it:       carbon-mirror reservations finish ${String(row?.['id'])} --organization ${organization} --action ...`,
        `To give it back: carbon-mirror reservations cancel ${String(row?.['id'])} --organization ${organization}`,
      ],
    });
  },
});

const finish = command({
  says: 'Retire or transfer what is reserved, as --action says',
  words: RESERVATION,
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
    const { id, action, transferComment, yes } = given;
    const body = { ...readMovement(given), transferComment };
    const { reservation, ...reached } = await reachReservation(context, id, given.organization);
    await write(context, {
      asks: { what: describeMovement(describeReservation(reservation), given), yes },
      installationId: reached.installationId,
      call: async () => reservationShown(await reached.owner.finishReservation(id, action, body), reached),
      tells: whereGone,
    });
  },
});

const cancel = command({
  says: 'Give back the credits of a reservation',
  words: RESERVATION,
  options: { organization: OWNER, yes: YES },
  prints: AS_JSON,
  examples: ['carbon-mirror reservations cancel ID'],
  run: async (context, { id, organization, yes }) => {
    const { reservation, ...reached } = await reachReservation(context, id, organization);
    await write(context, {
      asks: { what: `Give back ${describeReservation(reservation)}.`, yes },
      installationId: reached.installationId,
      call: async () => reservationShown(await reached.owner.cancelReservation(id), reached),
      tells: whereGone,
    });
  },
});

/** Beside the commands that show what was written. */
export const WRITES = {
  reservations: { create: reserve, finish, cancel },
  'inventory-requests': { create: request },
};

function describeReservation({ amount, creditId, project }: Reservation): string {
  return `${amount.exact ?? '?'} t of ${creditId}${project?.fullName ? ` (${project.fullName})` : ''}`;
}

/** By the registry's clock where it is known: that clock ends the reservation. */
function reservationShown(made: Reservation | null, { client, organization }: Reached): Row | null {
  if (made === null) return null;
  const now = client.http.localNow() + (client.http.clockSkewMs() ?? 0);
  const state = reservationState(made, now);
  const seconds = Math.floor((Date.parse(made.reservedToDate ?? '') - now) / 1000);
  return {
    ...cellsOf(LISTS.reservations, made),
    organization_id: organization,
    state_now: state,
    seconds_left: state === 'outstanding' && seconds > 0 ? seconds : null,
    document: made.document,
  };
}

function whereGone(row: Row | null): readonly string[] {
  return row === null ? ['It is done; the registry shows the reservation no more.'] : [];
}
