const MICRO_DIGITS = 6;
const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Replaces control characters, invisible characters and characters that change the writing direction by their code, such as `<U+202E>`. All
 * texts of a folder must be passed to this function before they are shown, because strangers may have written them.
 */
export function makePrintable(text: string): string {
  return text.replace(INVISIBLE_CHARACTERS, character => {
    const code = character.codePointAt(0) ?? 0;
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** Formats millionths of a tonne as tonnes: `6300200000n` → `6,300.2 t`. */
export function formatTonnes(micro: bigint): string {
  const digits = String(micro < 0n ? -micro : micro).padStart(MICRO_DIGITS + 1, '0');
  const fraction = digits.slice(-MICRO_DIGITS).replace(/0+$/, '');
  const whole = addCommas(digits.slice(0, -MICRO_DIGITS));
  return `${micro < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`} t`;
}

/** Formats a count with its noun: `1 row`, `1,200 rows`. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${addCommas(String(count))} ${count === 1 ? singular : plural}`;
}

/** Separates thousands in digits: `1200` → `1,200`. */
function addCommas(digits: string): string {
  return digits.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Formats an instant for people: `2026-05-04 12:00:00 UTC`, with milliseconds only if there are some. */
export function formatInstant(instant: string): string {
  return instant.replace('T', ' ').replace(/(?:\.000)?Z$/, ' UTC');
}

/** Joins the first `limit` items, and counts the others: `a, b and 3 others`. */
export function formatList(items: readonly string[], limit = 20): string {
  const omitted = items.length - limit;
  return `${items.slice(0, limit).join(', ')}${omitted > 0 ? ` and ${formatCount(omitted, 'other')}` : ''}`;
}
