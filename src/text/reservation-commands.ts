/** The credit that the commands name. */
interface CommandTarget {
  readonly organizationId: string;
  readonly creditId: string;
  /** Tonnes. */
  readonly amount: string;
}

/** Returns the two commands that reserve a credit and retire the reservation, ready to copy into a terminal. */
export function formatReservationCommands({ organizationId, creditId, amount }: CommandTarget): string[] {
  const organization = `--organization ${quoteArgument(organizationId)}`;
  return [
    `carbon-mirror reservations create ${organization} --credit-id ${quoteArgument(creditId)} --amount ${quoteArgument(amount)}`,
    formatFinishCommand('RESERVATION', organizationId),
  ];
}

/** Returns the command that retires a reservation, with words in capitals to replace. */
export function formatFinishCommand(reservationId: string, organizationId: string): string {
  return `carbon-mirror reservations finish ${quoteArgument(reservationId)} --organization ${quoteArgument(organizationId)} --action retire --beneficiary "NAME" --reason "REASON"`;
}

/** Quotes an argument for a shell unless it has only characters that no shell interprets. */
function quoteArgument(text: string): string {
  return /^[\w.:/@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
