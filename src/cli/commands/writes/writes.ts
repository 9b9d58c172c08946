import type { Reservation } from '../../../registry/model.js';
import { LISTS } from '../../../resources/lists.js';
import { HOW_NAMED } from '../../find/how-named.js';
import { needed, text, YES } from '../../taken.js';
import { requestRow, reservationRow } from './rows.js';
import { type Reached, reachCredit, reachReservation } from './find.js';
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
  json: 'print the request as JSON',
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
  shows: requestRow,
  tells: () => ['It waits for an administrator of the organization.'],
});

const reserve = write({
  says: 'Reserve credits of a warehouse; what is not finished in ten minutes goes back by itself',
  options: { organization: needed(text('name', `whose warehouse it is: ${HOW_NAMED}`)), ...CREDIT },
  json: 'print the reservation as JSON',
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
  says: 'Transfer or retire the credits of a reservation',
  words: RESERVATION,
  options: {
    organization: OWNER,
    ...MOVEMENT,
    transferComment: text('text', 'anything to say of the transfer'),
    yes: YES,
  },
  json: 'print the reservation as JSON',
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
  json: 'print the reservation as JSON',
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

function reservationShown(made: Reservation | null, { client, organization }: Reached) {
  return made && reservationRow(client, made, organization);
}

function whereGone(made: Reservation | null): readonly string[] {
  return made === null ? ['It is done; the registry shows the reservation no more.'] : [];
}
