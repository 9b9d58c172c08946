/** Names of settings that hold a path, a URL, a host or an id. Other settings hold short words: a long text may be a secret. */
const HOLDS_A_NAME = /(_DIR|_FILE|_URL|HOST|_NAMES|_ID)$/;
/** The beginning of a PEM key or of a token of the registry, or a text with several lines. */
const KEY = /-----|\n|^cr[su]_/;
const PATH = /^\.{0,2}\/(.*\/)?[a-z]{3,}(\/|$|[._-])/i;
const UUID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/gi;
/** A word as people type it: letters that may end with a number, or a number. */
const WORD = /^([a-z]{0,24}\d{0,4}|\d{1,12})$/i;
/** A text with at least this many characters outside such words looks like a key. */
const MIN_KEY_LENGTH = 12;
const URL_TEXT = /^([a-z][a-z\d+.-]*:\/\/)(.*)$/is;

/** Returns whether a value could be a secret that was pasted into the wrong setting. */
export function isPossibleSecret(name: string, value: string): boolean {
  if (KEY.test(value)) return true;
  if (!HOLDS_A_NAME.test(name)) return /\S{16}|[@=]/.test(value);
  if (PATH.test(value)) return false;
  const words = value.replaceAll(UUID, '').split(/[^a-z\d]+/i);
  const unusualText = words.filter(word => !WORD.test(word)).join('');
  return /[@=]/.test(value) || unusualText.length >= MIN_KEY_LENGTH;
}

/**
 * Replaces the user, password and query of a URL with `***`. Returns null for other text, and for a URL whose password has no
 * clear end.
 */
export function maskUrl(value: string): string | null {
  const [, scheme, rest = ''] = URL_TEXT.exec(value) ?? [];
  if (scheme === undefined) return null;
  const atIndex = rest.lastIndexOf('@');
  const location = /^[^?#]*/.exec(rest.slice(atIndex + 1))?.[0] ?? '';
  const isUnambiguous = !/[?#]/.test(rest.slice(0, atIndex + 1)) && /^[^/:\s]*(:\d*)?(\/|$)/.test(location);
  // The password of an ambiguous URL may end at several places, so none of the URL is shown.
  if (!isUnambiguous) return null;
  const query = rest.length > atIndex + 1 + location.length ? '?***' : '';
  return `${scheme}${atIndex < 0 ? '' : '***@'}${location}${query}`;
}

/** Formats the value of a setting for an error message. Masks URLs and hides possible secrets. */
export function formatSettingValue(name: string, value = ''): string {
  const url = maskUrl(value);
  if (url !== null && !KEY.test(value)) return JSON.stringify(url);
  if (URL_TEXT.test(value) || isPossibleSecret(name, value))
    return `a hidden text of ${value.length} characters`;
  return JSON.stringify(value);
}

const USUAL_NAME = /^(?=.{1,40}$)[A-Z]+(_[A-Z]+)*$/;

/** Formats the name of a setting for an error message. Hides unusual names, because they may be parts of a secret. */
export function formatSettingName(name: string): string {
  return USUAL_NAME.test(name) ? name : `a hidden name of ${name.length} characters`;
}
