/** The same digits, the thousands set apart; what is written with an exponent stays. */
export function withThousands(number: string | number | bigint): string {
  const [whole = '', ...fraction] = String(number).split('.');
  return [whole.replace(/(?<=\d)(?=(?:\d{3})+$)/g, ','), ...fraction].join('.');
}

/** `1 job`, `2 jobs`. */
export function formatCount(count: number, one: string, many = pluralOf(one)): string {
  return `${withThousands(count)} ${count === 1 ? one : many}`;
}

export function pluralOf(one: string): string {
  return one.endsWith('y') ? `${one.slice(0, -1)}ies` : one.endsWith('s') ? `${one}es` : `${one}s`;
}

/** What every sum is a part of, in words. */
export function formatKnownOrganizations(organizations: number): string {
  return `the ${formatCount(organizations, 'known organization')}`;
}

/** Of a list that somebody looks at; what takes it away takes all of it. */
export const MAX_SHOWN = 20;

/** Null where all of so many are shown. */
export function formatRest(count: number, most = MAX_SHOWN): string | null {
  return count > most ? `and ${withThousands(count - most)} more` : null;
}
