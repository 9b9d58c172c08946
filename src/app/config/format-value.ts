/** Settings that hold a path, a URL, a host or an id. The others hold short words: a long text in them may be a secret. */
const HOLDS_A_NAME = /(_DIR|_FILE|_URL|HOST|_NAMES|_ID)$/;
/** A PEM, or a token of the registry. */
const KEY = /-----|\n|^cr[su]_/;
const PATH = /^\.{0,2}\/(.*\/)?[a-z]{3,}(\/|$|[._-])/i;
const UUID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/gi;
/** A word as people type it: letters that may end with a number, or a number. */
const WORD = /^([a-z]{0,24}\d{0,4}|\d{1,12})$/i;
/** A text with at least this many characters outside such words looks like a key. */
const MIN_KEY_LENGTH = 12;
const URL_TEXT = /^([a-z][a-z\d+.-]*:\/\/)(.*)$/is;

/** Whether the value of a setting could be a secret that was pasted into the wrong place. */
export function isPossibleSecret(name: string, value: string): boolean {
  if (KEY.test(value)) return true;
  if (!HOLDS_A_NAME.test(name)) return /\S{16}|[@=]/.test(value);
  if (PATH.test(value)) return false;
  const words = value.replaceAll(UUID, '').split(/[^a-z\d]+/i);
  const odd = words.filter(word => !WORD.test(word)).join('');
  return /[@=]/.test(value) || odd.length >= MIN_KEY_LENGTH;
}

/** A URL without its user, password and query; null for any other text, and where these cannot be told apart. */
export function maskUrl(value: string): string | null {
  const [, scheme, text = ''] = URL_TEXT.exec(value) ?? [];
  if (scheme === undefined) return null;
  const at = text.lastIndexOf('@');
  const place = /^[^?#]*/.exec(text.slice(at + 1))?.[0] ?? '';
  const isClear = !/[?#]/.test(text.slice(0, at + 1)) && /^[^/:\s]*(:\d*)?(\/|$)/.test(place);
  if (!isClear) return null;
  const query = text.length > at + 1 + place.length ? '?***' : '';
  return `${scheme}${at < 0 ? '' : '***@'}${place}${query}`;
}

/** The value of a setting in a sentence about what is wrong with it. */
export function formatSettingValue(name: string, value = ''): string {
  const url = maskUrl(value);
  if (url !== null && !KEY.test(value)) return JSON.stringify(url);
  if (URL_TEXT.test(value) || isPossibleSecret(name, value))
    return `a text of ${value.length} characters that is not shown`;
  return JSON.stringify(value);
}

const USUAL_NAME = /^(?=.{1,40}$)[A-Z]+(_[A-Z]+)*$/;

/** A name from a file that may be no file of settings at all. */
export function formatSettingName(name: string): string {
  return USUAL_NAME.test(name) ? name : `a name of ${name.length} characters that is not shown`;
}
