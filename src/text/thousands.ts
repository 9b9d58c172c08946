/** The same digits, the thousands set apart; what is written with an exponent stays. */
export function withThousands(number: string | number | bigint): string {
  const [whole = '', ...fraction] = String(number).split('.');
  return [whole.replace(/(?<=\d)(?=(?:\d{3})+$)/g, ','), ...fraction].join('.');
}
