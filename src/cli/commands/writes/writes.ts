import type { Reservation } from '../../../registry/model.js';
import { LISTS } from '../../../resources/lists.js';
import { HOW_NAMED } from '../../find/how-named.js';
import { needed, text, THE_ORGANIZATION, YES } from '../../taken.js';
import { creditRow, requestRow, reservationRow } from './rows.js';
import { type Reached, reach, reachCredit, reachReservation } from './find.js';
import { describeMovement, MOVEMENT, readMovement } from './movement.js';
import { write } from './write.js';

const CREDIT = {
  creditId: needed(text('id', 'the credit, or the beginning of its id')),
  amount: needed(text('tonnes', 'how much')),
};
const RESERVATION = { id: needed(text('id', 'the reservation')) };
const OWNER = text('name', 'whose it is, where the mirror does not know yet');

export const FRIENDBOT = write({
  says: "Let a registry's sandbox deposit 100 test credits into an organization's inventory",
  options: { organization: THE_ORGANIZATION, yes: YES },
  json: 'print the credits as JSON',
  examples: [
    'carbon-mirror friendbot --organization ID',
    'carbon-mirror friendbot --organization ID --yes --json',
  ],
  find: (context, { organization }) => reach(context, organization),
  asks: ({ organization }) => `Deposit 100 test credits into the inventory of ${organization}.`,
  call: ({ client, organization }) => client.token.friendbot(organization),
  shows: credits => credits.map(creditRow),
});

const createOrganization = write({
  says: 'Create a user and an organization under that user; the app is installed on it at once',
  options: {
    name: needed(text('name', 'name of the organization')),
    type: needed(
      text('type', 'such as marketParticipant, projectDeveloper, projectProponent, validationBody or other'),
    ),
    country: text('code', 'two capital letters'),
    email: needed(text('address', 'e-mail address of the user')),
    userName: text('name', 'name of the user'),
    userPicture: text('url', 'where a picture of the user is'),
    yes: YES,
  },
  json: 'print what was created as JSON',
  examples: [
    'carbon-mirror organizations create --name "Harbour Ferries" --type marketParticipant --country IS --email ada@harbour.example --user-name "Ada Quay"',
  ],
  find: async context => ({ client: await context.client() }),
  asks: ({ client }, { name, email }) =>
    `Create the organization "${name}" and its user ${email} in ${client.http.baseUrl}.`,
  call: ({ client }, { name: fullName, type, country: countryCode, email, userName, userPicture }) =>
    client.app.createUserAndOrganization({
      user: { email, fullName: userName, profilePicture: userPicture },
      organization: { fullName, type, countryCode },
    }),
  shows: ({ organization, installation, user }) => ({
    organization_id: organization?.id ?? installation.organizationId,
    organization: organization?.fullName,
    installation_id: installation.id,
    user_id: user?.id,
    email: user?.email,
  }),
  tells: () => ['The webhook about the installation brings it into the mirror.'],
});

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
  organizations: { create: createOrganization },
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
