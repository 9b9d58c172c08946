/** A random text of sixteen hexadecimal digits has about ten. */
const FEWEST_DISTINCT = 6;
const PLACEHOLDER =
  /^<.*>$|^\$\{.*\}$|change[-_ ]?me|^your[-_ ]|replace[-_ ]|example|placeholder|^(secret|password|webhook|test)[-_ ]?(secret|password|key)?\d*$/i;

/** Why a secret that is long enough can be guessed all the same, in words that do not show it; null where it cannot. */
export function findWeakness(secret: string): string | null {
  if (/^(["'`]).*\1$/.test(secret)) return 'it has quotes around it';
  if (PLACEHOLDER.test(secret)) return 'it is a placeholder';
  if (new Set(secret).size < FEWEST_DISTINCT) return 'it is made of a few characters only';
  return null;
}
