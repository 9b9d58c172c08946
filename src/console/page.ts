import type { Reader } from '../store/contract/reader.js';
import type { Row } from '../store/contract/tables.js';
import type { Comparison } from './comparison.js';
import type { Html } from './components/html.js';

/** The files of certificates, handed in by who knows where they are. */
export interface Pdfs {
  /** Its bytes as they are now; null where it is not there, and for what is no name of one. */
  readonly open: (file: string) => Promise<AsyncIterable<Uint8Array> | null>;
  /** Of the file as it is now. */
  readonly inspect: (file: string) => Promise<{ readonly sha256: string } | null>;
}

/** What is the same for all pages. */
export interface Shared {
  /** Where the registry is to send its webhooks; null where that is not known. */
  readonly webhookUrl: string | null;
  /** Of carbon-mirror. */
  readonly version: string;
  /** Null where nobody here may ask the registry. */
  readonly comparison: Comparison | null;
  /** The columns of a row that its document contradicts. */
  readonly contradicted: (table: string, row: Row) => readonly string[];
  /** How a version of a row was sealed, in a sentence; null where nothing is. */
  readonly sealedIn: (version: number) => Promise<string | null>;
}

/** What a page is asked with. */
export interface Ask extends Shared {
  readonly reader: Reader;
  readonly now: number;
  readonly query: URLSearchParams;
  /** What is to be shown is what the mirror had been told by then; null for what is known now. */
  readonly at: string | null;
  /** Whether a page may offer to do something. */
  readonly canAct: boolean;
  /** As a browser calls us, and whether the registry is made up. */
  readonly origin: string;
  readonly isDemo: boolean;
  readonly inspect: Pdfs['inspect'];
  /** What stands in the address, as the id of a row. */
  readonly params: Readonly<Record<string, string>>;
}

export interface Shown {
  readonly title: string;
  readonly body: Html;
  /** What it is a part of, where it stands in no room of several pages. */
  readonly about?: Html | false;
  /** What takes longer, or may: it follows once the body is sent. */
  readonly later?: () => Promise<Html>;
  /** Whether it is about what goes on: a browser without JavaScript opens it again soon. */
  readonly goesOn?: boolean;
}

/** What another program takes, as it comes. */
export interface Sent {
  readonly type: string;
  readonly name: string;
  readonly text: AsyncIterable<string>;
}

/** Why what was asked for cannot be told, in a sentence. */
export interface Fault {
  readonly fault: string;
}

/** Another address has what was asked for. */
export interface Redirect {
  readonly location: string;
}

/** A sentence that names what is not there. */
export interface Missing {
  readonly missing: string;
}

export interface Page {
  readonly path: string;
  /** Whether it can be shown as of an instant. */
  readonly isDated?: boolean;
  /** What its address may ask, beside that. */
  readonly asks?: readonly string[];
  readonly show: (ask: Ask) => Promise<Shown | Sent | Fault | Redirect | Missing>;
}
