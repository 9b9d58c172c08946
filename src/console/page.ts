import type { Reader } from '../store/contract/reader.js';
import type { Row } from '../store/contract/tables.js';
import type { Comparison } from './comparison.js';
import type { Html } from './components/html.js';

/** Reads certificate files. */
export interface CertificateFileAccess {
  /** Opens a file; null if it does not exist or the name is not valid. */
  readonly open: (file: string) => Promise<AsyncIterable<Uint8Array> | null>;
  /** Computes the checksum of a file; null if it does not exist. */
  readonly inspect: (file: string) => Promise<{ readonly sha256: string } | null>;
}

/** What all pages share. */
export interface PageEnvironment {
  /** URL to which the registry sends webhooks; null if unknown. */
  readonly webhookUrl: string | null;
  /** Version of carbon-mirror. */
  readonly version: string;
  /** Null if the console has no registry credentials. */
  readonly comparison: Comparison | null;
  /** Returns the columns of a row that contradict its stored JSON. */
  readonly contradicted: (table: string, row: Row) => readonly string[];
  /** Describes the checkpoint that covers a row version; null if evidence is off. */
  readonly sealedIn: (version: number) => Promise<string | null>;
}

/** A request for a page. */
export interface PageRequest extends PageEnvironment {
  readonly reader: Reader;
  readonly now: number;
  readonly query: URLSearchParams;
  /** Show what the mirror had observed by this instant; null for now. */
  readonly at: string | null;
  /** Whether pages may offer buttons that act. */
  readonly canAct: boolean;
  /** Origin of the URL that the browser uses. */
  readonly origin: string;
  readonly isDemo: boolean;
  readonly inspect: CertificateFileAccess['inspect'];
  /** Parameters of the path, such as the id of a row. */
  readonly params: Readonly<Record<string, string>>;
}

export interface PageContent {
  readonly title: string;
  readonly body: Html;
  /** Shown below the header on a page without tabs. */
  readonly intro?: Html | false;
  /** Renders the slow part, which is sent after the body. */
  readonly renderRest?: () => Promise<Html>;
  /** Whether a browser without JavaScript reloads the page every two seconds. */
  readonly refreshes?: boolean;
}

/** A file to download, as a stream. */
export interface FileContent {
  readonly type: string;
  readonly name: string;
  readonly text: AsyncIterable<string>;
}

/** Explains in a sentence why a request was refused. */
export interface PageFault {
  readonly fault: string;
}

/** Sends the visitor to another URL. */
export interface PageRedirect {
  readonly location: string;
}

/** Names in a sentence what was not found. */
export interface PageNotFound {
  readonly missing: string;
}

export interface ConsolePage {
  readonly path: string;
  /** Whether the page can be shown as of an instant. */
  readonly hasHistory?: boolean;
  /** URL parameters that the page accepts, besides `as-of`. */
  readonly parameters?: readonly string[];
  readonly render: (
    request: PageRequest,
  ) => Promise<PageContent | FileContent | PageFault | PageRedirect | PageNotFound>;
}
