import type { Reservation } from '../../../registry/model.js';
import { minutesOf } from '../../../query/lists/lists.js';
import { reservationState } from '../../../registry/reservation-state.js';
import { LISTS } from '../../../resources/lists.js';
import type { Row } from '../../output/output.js';
import { cellsOf } from '../../output/sheet.js';
import { HOW_NAMED, needed, text, YES } from '../../taken.js';
import { reachCredit, type Reached, reachReservation } from './find.js';
import { describeMovement, MOVEMENT, readMovement } from './movement.js';
import { write } from './write.js';

const CREDIT = {
  creditId: needed(text('id', 'the credit, or the beginning of its id')),
  amount: needed(text('tonnes', 'how much')),
};
const RESERVATION = { id: needed(text('id', 'the reservation')) };
const OWNER = text('name', 'whose it is, where the mirror does not know yet');

const request = write({
  says: 'Ask an organization to transfer or retire credits of its inventory',
  options: {
    organization: needed(text('name', `whose inventory it is: ${HOW_NAMED}`)),
    ...CREDIT,
    ...MOVEMENT,
    yes: YES,
  },
  what: 'request',
  examples: [
    'carbon-mirror inventory-requests create --organization ID --credit-id ID --amount 5 --action transfer --receiver-id ID',
    'carbon-mirror inventory-requests create --organization ID --credit-id ID --amount 5 --action retire --beneficiary "Harbour Ferries" --reason "Voluntary purposes" --yes',
  ],
  find: async (context, given) => ({
    movement: readMovement(given),
    ...(await reachCredit(context, LISTS.inventory, given)),
  }),
  asks: ({ organization, creditId }, given) =>
    `Ask the administrators of ${organization}: ${describeMovement(`${given.amount} t of ${creditId}`, given)}`,
  call: ({ owner, creditId, movement }, { action, amount }) => {
    const { receiverId: toOrganizationId, receiverAddress: toAddress, retirementData } = movement;
    return owner.requestInventoryAction(action, {
      creditId,
      amount,
      toOrganizationId,
      toAddress,
      retirementData,
    });
  },
  shows: made => ({
    ...cellsOf(LISTS.inventory_requests, made),
    organization_id: made.fromOrganizationId,
    document: made.document,
  }),
  tells: () => ['It waits for an administrator of the organization.'],
});

const reserve = write({
  says: 'Reserve credits of a warehouse; what is not finished in ten minutes goes back by itself',
  options: { organization: needed(text('name', `whose warehouse it is: ${HOW_NAMED}`)), ...CREDIT },
  what: 'reservation',
  examples: ['carbon-mirror reservations create --organization ID --credit-id ID --amount 12.5'],
  find: (context, given) => reachCredit(context, LISTS.warehouse, given),
  call: ({ owner, creditId }, { amount }) => owner.reserve({ creditId, amount }),
  shows: reservationShown,
  tells: ({ id }, { organization }) => [
    `To use it:       carbon-mirror reservations finish ${id} --organization ${organization} --action ...`,
    `To give it back: carbon-mirror reservations cancel ${id} --organization ${organization}`,
  ],
});

const finish = write({
  says: 'Retire or transfer what is reserved, as --action says',
  words: RESERVATION,
  options: {
    organization: OWNER,
    ...MOVEMENT,
    transferComment: text('text', 'anything to say of the transfer'),
    yes: YES,
  },
  what: 'reservation',
  examples: [
    'carbon-mirror reservations finish ID --action transfer --receiver-id ID',
    'carbon-mirror reservations finish ID --action retire --beneficiary "Harbour Ferries" --reason "Voluntary purposes"',
  ],
  find: async (context, given) => ({
    movement: readMovement(given),
    ...(await reachReservation(context, given)),
  }),
  asks: ({ reservation }, given) => describeMovement(describeReservation(reservation), given),
  call: ({ owner, movement }, { id, action, transferComment }) =>
    owner.finishReservation(id, action, { ...movement, transferComment }),
  shows: reservationShown,
  tells: whereGone,
});

const cancel = write({
  says: 'Give back the credits of a reservation',
  words: RESERVATION,
  options: { organization: OWNER, yes: YES },
  what: 'reservation',
  examples: ['carbon-mirror reservations cancel ID', 'carbon-mirror reservations cancel ID --yes --json'],
  find: reachReservation,
  asks: ({ reservation }) => `Give back ${describeReservation(reservation)}.`,
  call: ({ owner }, { id }) => owner.cancelReservation(id),
  shows: reservationShown,
  tells: whereGone,
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
    minutes_left: state === 'outstanding' && seconds > 0 ? minutesOf(seconds) : null,
    document: made.document,
  };
}

function whereGone(made: Reservation | null): readonly string[] {
  return made === null ? ['It is done; the registry shows the reservation no more.'] : [];
}
