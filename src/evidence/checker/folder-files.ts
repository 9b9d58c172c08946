import { runInBatches, sha256, toHex } from './bytes.js';
import { assertFolder, EvidenceFault } from './fault.js';

/** A file in an evidence folder. */
export interface EvidenceFile {
  /** The number of bytes. */
  readonly size: number;
  /** The kind of an entry that is no plain file, such as "a link, a pipe or a device". Such a file must not be read. */
  readonly problem?: string;
  readonly read: () => Promise<Uint8Array>;
}

/** The files of an evidence folder and its subfolders, by their paths relative to it, with slashes. */
export type FolderFiles = ReadonlyMap<string, EvidenceFile>;

const MAX_FILES = 2_000_000;
/** The largest evidence.jsonl that a checker must be able to read. An export refuses to write more. */
export const MAX_TEXT_BYTES = 256 * 2 ** 20;
/** The largest certificate that a checker must be able to read. The mirror stores no larger one. */
const MAX_CERTIFICATE_BYTES = 32 * 2 ** 20;
const CERTIFICATES_AT_ONCE = 32;
const TEXT_FILES = ['evidence.jsonl', 'checkpoint.txt'];
/** Matches the path of a certificate. The group is its SHA-256. */
const CERTIFICATE_PATH = /^certificates\/([0-9a-f]{64})\.pdf$/;

/** The texts of an evidence folder. */
export interface FolderTexts {
  /** The content of evidence.jsonl. */
  readonly lines: string;
  /** The content of checkpoint.txt. */
  readonly checkpoint: string;
  /** The paths of files that are not part of the format. */
  readonly uncheckedFiles: readonly string[];
}

/**
 * Checks the names and sizes of all files of a folder, and reads evidence.jsonl and checkpoint.txt. Throws an EvidenceFault for a file that
 * is too large or no plain file, if one of these two files is missing, and for a file in `certificates/` that is not named after a hash.
 */
export async function readFolderTexts(files: FolderFiles): Promise<FolderTexts> {
  assertFolder(files.size <= MAX_FILES, `the folder has more than ${MAX_FILES} files`);
  const uncheckedFiles: string[] = [];
  for (const [name, { size, problem }] of files) {
    assertFolder(problem === undefined, `${name} is ${problem}`);
    if (CERTIFICATE_PATH.test(name))
      assertFolder(size <= MAX_CERTIFICATE_BYTES, `${name} has more than ${MAX_CERTIFICATE_BYTES} bytes`);
    else if (TEXT_FILES.includes(name))
      assertFolder(size <= MAX_TEXT_BYTES, `${name} has more than ${MAX_TEXT_BYTES} bytes`);
    else uncheckedFiles.push(name);
  }
  const inCertificates = uncheckedFiles.find(name => /^certificates\//i.test(name));
  assertFolder(inCertificates === undefined, `${inCertificates} is not named after a hash`);
  return {
    lines: await readTextFile(files, 'evidence.jsonl'),
    checkpoint: await readTextFile(files, 'checkpoint.txt'),
    uncheckedFiles: uncheckedFiles.toSorted(),
  };
}

/**
 * Throws an EvidenceFault if a certificate in `expected` (hashes) is missing, if the folder has another certificate, or if the SHA-256 of a
 * certificate is not the one in its file name. Calls `onProgress` with the number of certificates that are finished and the number of all.
 */
export async function checkCertificates(
  files: FolderFiles,
  expected: ReadonlySet<string>,
  onProgress: (finished: number, total: number) => void,
): Promise<void> {
  const hashes = [...files.keys()].flatMap(name => CERTIFICATE_PATH.exec(name)?.[1] ?? []);
  const found = new Set(hashes);
  for (const hash of expected) assertFolder(found.has(hash), `${getCertificateName(hash)} is missing`);
  for (const hash of found)
    assertFolder(expected.has(hash), `${getCertificateName(hash)} belongs to no leaf`);
  await runInBatches(
    hashes,
    CERTIFICATES_AT_ONCE,
    async hash => void (await readCertificate(files, hash)),
    finished => onProgress(finished, hashes.length),
  );
}

/** Reads the certificate with this SHA-256. Throws an EvidenceFault if it is missing or has another hash. */
export async function readCertificate(files: FolderFiles, hash: string): Promise<Uint8Array> {
  const name = getCertificateName(hash);
  const bytes = await readBytes(files, name);
  assertFolder(toHex(await sha256(bytes)) === hash, `${name} was changed`);
  return bytes;
}

/** Returns the path of a certificate in the folder. */
function getCertificateName(hash: string): string {
  return `certificates/${hash}.pdf`;
}

/** Reads a file as UTF-8. Throws an EvidenceFault if it is missing or not UTF-8. */
async function readTextFile(files: FolderFiles, name: string): Promise<string> {
  const bytes = await readBytes(files, name);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new EvidenceFault(`${name} is not UTF-8`);
    throw error;
  }
}

/** Reads a file. Throws an EvidenceFault if it is missing, and another error if its size has changed. */
async function readBytes(files: FolderFiles, name: string): Promise<Uint8Array> {
  const file = files.get(name);
  assertFolder(file !== undefined, `${name} is missing`);
  const bytes = await file.read();
  if (bytes.length !== file.size) throw new Error(`${name} changed while it was read`);
  return bytes;
}
