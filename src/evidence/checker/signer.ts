import { encodeUtf8, fromBase64, isHash, isInstant } from './bytes.js';
import type { JsonObject } from './canonical-json.js';
import { assertFolder } from './fault.js';
import { getText, listLeavesOfKind } from './row-versions.js';
import { type Checkpoint, findSignerName, isSignedBy, parseVerifierKey } from './signed-checkpoint.js';
import type { HashedLeaf } from './tree.js';

/** The replacement of a key by another, signed by the old key. Both are public keys in hex. */
interface KeyChange {
  readonly oldKey: string;
  readonly newKey: string;
  readonly at: string;
}

/** The signer of a checkpoint, and the replacements that lead from the key that the user entered to the key that signed. */
export interface Signer {
  /** The name of the key, with which the name of the log begins. */
  readonly name: string;
  /** The public key that signed the checkpoint, in hex. */
  readonly key: string;
  /** The replacements that lead from the entered key to `key`, in order. */
  readonly changes: readonly KeyChange[];
  /** Public keys of this log in hex: the entered key, the keys that replaced it, and the keys that it replaced. */
  readonly trustedKeys: ReadonlySet<string>;
  /** Names of other signers on the checkpoint, such as witnesses. Their signatures were not checked. */
  readonly otherSignatures: readonly string[];
  /** Indexes of leaves about a new key that the old key did not sign. They were ignored. */
  readonly ignoredLeaves: readonly number[];
}

/**
 * Returns the signer of a checkpoint. `keyText` is the public key that the user entered: 64 hex digits, or NAME+ID+KEY. If shown leaves of
 * kind `key` say that this key was replaced, the newest key must have signed the checkpoint; a replacement is accepted only if the replaced
 * key signed it. Throws an EvidenceFault if the checkpoint is not signed by that key.
 */
export async function checkSigner(
  checkpoint: Checkpoint,
  leaves: ReadonlyMap<number, HashedLeaf>,
  keyText: string,
): Promise<Signer> {
  assertFolder(keyText.trim() !== '', 'no key was given, so nobody knows who signed this folder');
  const given = await parseVerifierKey(keyText.trim());
  assertFolder(given !== null, 'the given key is neither 64 lower-case hex digits nor NAME+ID+KEY');
  let key = given.hex;
  const trustedKeys = new Set([key]);
  const changes: KeyChange[] = [];
  const ignoredLeaves: number[] = [];
  for (const { leafIndex, record } of listLeavesOfKind(leaves, 'key')) {
    const change = await readKeyChange(record);
    if (change === null) ignoredLeaves.push(leafIndex);
    if (change === null || (change.oldKey !== key && change.newKey !== key)) continue;
    trustedKeys.add(change.oldKey).add(change.newKey);
    if (change.oldKey !== key) continue;
    changes.push(change);
    key = change.newKey;
  }
  const name = await findSignerName(checkpoint, [key], given.name);
  assertFolder(
    name !== null,
    changes.length === 0
      ? 'the checkpoint is not signed by the given key'
      : `the checkpoint is not signed by ${key}, which replaced the given key`,
  );
  const otherSignatures = checkpoint.signatures.map(({ signer }) => signer).filter(signer => signer !== name);
  return { name, key, changes, trustedKeys, otherSignatures, ignoredLeaves };
}

/** Reads the record of a leaf about a new key. Returns null if it is malformed or the old key did not sign it. */
async function readKeyChange(record: JsonObject): Promise<KeyChange | null> {
  const [oldKey, newKey, at] = [getText(record, 'old'), getText(record, 'new'), getText(record, 'at')];
  const signature = fromBase64(getText(record, 'signature'));
  if (!isHash(oldKey) || !isHash(newKey) || !isInstant(at) || signature === null) return null;
  const text = encodeUtf8(`carbon-mirror key\n${oldKey}\n${newKey}\n${at}\n`);
  return (await isSignedBy(oldKey, text, signature)) ? { oldKey, newKey, at } : null;
}
