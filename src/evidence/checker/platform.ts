import { encodeUtf8, fromHex, hashText } from './bytes.js';
import { PlatformError } from './fault.js';
import { isSignedBy } from './signed-checkpoint.js';

const NOTHING_CHECKED = 'Nothing was checked.';
/** The SHA-256 of the text "abc". */
const HASH_OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
/** The SHA-256 of an empty text. */
const HASH_OF_EMPTY_TEXT = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
/** A public key and its signature of an empty text, from RFC 8032, section 7.1. */
const TEST_KEY = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
const TEST_SIGNATURE =
  'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155' +
  '5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b';

/** Tests SHA-256 and Ed25519 of this platform with known answers. Throws a PlatformError if one is missing or wrong. */
export async function testPlatform(): Promise<void> {
  if (!hasWebCryptography())
    throw new PlatformError(`Web Cryptography is not available here. ${NOTHING_CHECKED}`);
  const hashes = [await hashText('abc'), await hashText('')];
  if (hashes[0] !== HASH_OF_ABC || hashes[1] !== HASH_OF_EMPTY_TEXT)
    throw new PlatformError(`SHA-256 gives wrong results here. ${NOTHING_CHECKED}`);
  const verify = (text: string) => isSignedBy(TEST_KEY, encodeUtf8(text), fromHex(TEST_SIGNATURE));
  let isRightAccepted: boolean;
  try {
    isRightAccepted = await verify('');
  } catch (error) {
    const versions = 'Chrome or Edge 137, Firefox 129, Safari 17, Node 20, or newer';
    throw new PlatformError(`Ed25519 is not available here; it needs ${versions}. ${NOTHING_CHECKED}`, {
      cause: error,
    });
  }
  if (!isRightAccepted || (await verify('x')))
    throw new PlatformError(`Ed25519 gives wrong results here. ${NOTHING_CHECKED}`);
}

/** Returns true if `crypto.subtle` exists. Browsers lack it on pages that are not secure. */
function hasWebCryptography(): boolean {
  const cryptography: { readonly subtle?: unknown } | undefined = globalThis.crypto;
  return cryptography?.subtle !== undefined;
}
