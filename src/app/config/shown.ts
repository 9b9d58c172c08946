/** A secret that was pasted into the wrong setting: long and without a space, or with its own look. */
const LIKE_A_SECRET = /\S{16}|[@=\n]|-----|^cr[su]_/;
const USUAL_NAME = /^(?=.{1,40}$)[A-Z]+(_[A-Z]+)*$/;

/** The value of a setting in a sentence about what is wrong with it. */
export function shownValue(value = ''): string {
  if (LIKE_A_SECRET.test(value)) return `a text of ${value.length} characters that is not shown`;
  return JSON.stringify(value);
}

/** A name from a file that may be no file of settings at all. */
export function shownName(name: string): string {
  return USUAL_NAME.test(name) ? name : `a name of ${name.length} characters that is not shown`;
}
