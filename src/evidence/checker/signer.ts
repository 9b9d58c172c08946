import { encodeUtf8, fromBase64, isHash, isInstant } from './bytes.js';
import type { JsonObject } from './canonical-json.js';
import { assertFolder } from './fault.js';
import { getText, listLeavesOfKind } from './row-versions.js';
import { type Checkpoint, findSignerName, isSignedBy, parseVerifierKey } from './signed-checkpoint.js';
import type { HashedLeaf } from './tree.js';

interface KeyChange {
  readonly oldKey: string;
  readonly newKey: string;
  readonly at: string;
}

/** The signer of a checkpoint, with the keys that the log used one after another. */
export interface Signer {
  /** The name of the log in its key. */
  readonly name: string;
  /** The public key in hex. */
  readonly key: string;
  /** The keys that followed the given one, in order. */
  readonly changes: readonly KeyChange[];
  /** Keys of this log: the given one, those that replaced it, and those that it replaced. */
  readonly trustedKeys: ReadonlySet<string>;
  /** Names of further signatures, which were not checked. */
  readonly otherSignatures: readonly string[];
  /** Leaves about a new key that the old key did not sign. They change nothing. */
  readonly ignoredLeaves: readonly number[];
}

/** Checks that the given key signed the checkpoint, or a key that replaced it: the old key signs a leaf about the new one. */
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
  for (const { place, record } of listLeavesOfKind(leaves, 'key')) {
    const change = await readKeyChange(record);
    if (change === null) ignoredLeaves.push(place);
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

/** Reads a leaf about a new key. Returns null unless the old key signed it. */
async function readKeyChange(record: JsonObject): Promise<KeyChange | null> {
  const [oldKey, newKey, at] = [getText(record, 'old'), getText(record, 'new'), getText(record, 'at')];
  const signature = fromBase64(getText(record, 'signature'));
  if (!isHash(oldKey) || !isHash(newKey) || !isInstant(at) || signature === null) return null;
  const text = encodeUtf8(`carbon-mirror key\n${oldKey}\n${newKey}\n${at}\n`);
  return (await isSignedBy(oldKey, text, signature)) ? { oldKey, newKey, at } : null;
}
