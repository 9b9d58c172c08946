import type { Reader } from '../store/contract/reader.js';
import type { Row } from '../store/contract/tables.js';
import type { RegistryComparison } from './registry-comparison.js';
import type { Html } from './components/html.js';

/** Access to the stored certificate files. */
export interface CertificateFileAccess {
  /** Opens a certificate file. Returns null if the file does not exist or the name is invalid. */
  readonly openFile: (file: string) => Promise<AsyncIterable<Uint8Array> | null>;
  /** Computes the checksum of a certificate file. Returns null if the file does not exist. */
  readonly inspectFile: (file: string) => Promise<{ readonly sha256: string } | null>;
}

/** Settings and services that every page receives. */
export interface PageEnvironment {
  /** URL to which the registry sends webhooks; null if unknown. */
  readonly webhookUrl: string | null;
  /** Version of carbon-mirror. */
  readonly version: string;
  /** Null if the console has no registry credentials. */
  readonly comparison: RegistryComparison | null;
  /** Returns the columns of a row that contradict its stored JSON. */
  readonly findContradictedColumns: (table: string, row: Row) => readonly string[];
  /** Describes the checkpoint that covers a row version. Returns null if there is no evidence log. */
  readonly describeCheckpoint: (version: number) => Promise<string | null>;
}

/** A request for a page. */
export interface ConsoleRequest extends PageEnvironment {
  readonly reader: Reader;
  readonly now: number;
  readonly query: URLSearchParams;
  /** Show what the mirror had observed by this instant; null for now. */
  readonly at: string | null;
  /** Whether pages offer this visitor buttons that act. */
  readonly canAct: boolean;
  /** Whether pages offer this visitor forms that place orders. */
  readonly canOrder: boolean;
  /** Part of every form. */
  readonly pageToken: string;
  /** Origin of the URL that the browser uses. */
  readonly origin: string;
  readonly isDemo: boolean;
  readonly inspectFile: CertificateFileAccess['inspectFile'];
  /** Parameters of the path, such as the id of a row. */
  readonly params: Readonly<Record<string, string>>;
}

export interface PageContent {
  readonly title: string;
  readonly body: Html;
  /** Shown below the header on a page without tabs. */
  readonly intro?: Html | false;
  /** Renders the slow content of the page, which is sent after the body. */
  readonly renderRest?: () => Promise<Html>;
  /** Whether a browser without JavaScript reloads the page every two seconds. */
  readonly reloadsWithoutScript?: boolean;
}

/** A file to download, as a stream. */
export interface FileContent {
  readonly type: string;
  readonly name: string;
  readonly text: AsyncIterable<string>;
}

/** An error message for the visitor, shown instead of the page: the reason why a request was refused, as a sentence. */
export interface PageFault {
  readonly fault: string;
}

/** A redirect to another URL of the console. */
export interface PageRedirect {
  readonly location: string;
}

/** A sentence that names what was not found. */
export interface PageNotFound {
  readonly missing: string;
}

/** The answer of a page to a request. */
export type PageResult = PageContent | FileContent | PageFault | PageRedirect | PageNotFound;

export interface ConsolePage {
  readonly path: string;
  /** Whether the page can be shown as of an instant. */
  readonly hasHistory?: boolean;
  /** URL parameters that the page accepts, besides `as-of`. */
  readonly parameters?: readonly string[];
  readonly render: (request: ConsoleRequest) => Promise<PageResult>;
}
