import type { EvidenceFile, FolderFiles } from '../folder-files.js';

/** A folder that the reader chose or dropped. */
export interface ChosenFolder {
  readonly name: string;
  readonly files: FolderFiles;
}

/** A file with its path relative to the chosen folder. */
type NamedFile = readonly [path: string, file: File];

/** Returns the folder that was chosen in a directory picker, given the files of the picker. */
export function readPicker(chosen: Iterable<File>): ChosenFolder {
  const files = [...chosen];
  const [name = ''] = files[0]?.webkitRelativePath.split('/') ?? [];
  return toFolder(
    name,
    files.map(file => [file.webkitRelativePath.split('/').slice(1).join('/'), file]),
  );
}

/**
 * Returns the folder that was dropped on the page. Returns null if something else was dropped.
 *
 * Uses file system handles if the browser has them, as Chrome and Edge do: there, a page that was opened from disk cannot read file system
 * entries. Other browsers have only entries.
 */
export async function readDrop(transfer: DataTransfer | null): Promise<ChosenFolder | null> {
  const item: DroppedItem | undefined = transfer?.items[0];
  /** Both must be requested before anything is awaited. */
  const entry = item?.webkitGetAsEntry() ?? null;
  const handle = await item?.getAsFileSystemHandle?.();
  if (handle?.kind === 'directory') return toFolder(handle.name, await listHandles(handle, ''));
  if (entry !== null && isDirectory(entry)) return toFolder(entry.name, await listEntries(entry, ''));
  return null;
}

/** A dropped item. Declared here, because TypeScript's DOM types lack `getAsFileSystemHandle`. */
interface DroppedItem {
  readonly webkitGetAsEntry: () => FileSystemEntry | null;
  readonly getAsFileSystemHandle?: () => Promise<DirectoryHandle | FileHandle | null>;
}

/** A `FileSystemDirectoryHandle`, as far as it is used here. */
interface DirectoryHandle {
  readonly kind: 'directory';
  readonly name: string;
  readonly values: () => AsyncIterable<DirectoryHandle | FileHandle>;
}

/** A `FileSystemFileHandle`, as far as it is used here. */
interface FileHandle {
  readonly kind: 'file';
  readonly name: string;
  readonly getFile: () => Promise<File>;
}

function toFolder(name: string, files: readonly NamedFile[]): ChosenFolder {
  return { name, files: new Map(files.map(([path, file]) => [path, toEvidenceFile(file)])) };
}

function toEvidenceFile(file: File): EvidenceFile {
  return { size: file.size, read: async () => new Uint8Array(await file.arrayBuffer()) };
}

/** Lists the files below a directory handle. `prefix` is the path of the directory with a slash at the end, or empty. */
async function listHandles(folder: DirectoryHandle, prefix: string): Promise<NamedFile[]> {
  const files: NamedFile[] = [];
  for await (const handle of folder.values()) {
    const path = `${prefix}${handle.name}`;
    if (handle.kind === 'directory') files.push(...(await listHandles(handle, `${path}/`)));
    else files.push([path, await handle.getFile()]);
  }
  return files;
}

/** Lists the files below a directory entry. `prefix` is the path of the directory with a slash at the end, or empty. */
async function listEntries(folder: FileSystemDirectoryEntry, prefix: string): Promise<NamedFile[]> {
  const reader = folder.createReader();
  const files: NamedFile[] = [];
  for (;;) {
    /** A folder is read in portions, until one is empty. */
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (entries.length === 0) return files;
    for (const entry of entries) {
      const path = `${prefix}${entry.name}`;
      if (isDirectory(entry)) files.push(...(await listEntries(entry, `${path}/`)));
      else if (isFile(entry)) files.push([path, await getFile(entry)]);
    }
  }
}

/** Returns the file of an entry as a promise. */
function getFile(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => {
    entry.file(resolve, reject);
  });
}

function isDirectory(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}
