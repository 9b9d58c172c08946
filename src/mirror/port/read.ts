/** The reason why a read failed or is incomplete. */
export interface ReadFault {
  readonly code: string;
  readonly message: string;
}

/** Describes the registry's latest HTTP response to a request for a resource. */
export interface AnswerDescription {
  readonly status: number;
  /** The JSON structure of the body; `none` for an error status, `unusable` for any other body. */
  readonly form: 'list' | 'pages' | 'object' | 'none' | 'unusable';
  readonly at: number;
  /** The body of the answer if no rows could be parsed from it; else null. */
  readonly text: string | null;
}

/** The requests of a read, and facts about the resource that their answers revealed. */
export interface ReadTraffic {
  readonly requests: number;
  readonly bytes: number;
  /** When the latest answer arrived, in epoch milliseconds; absent or null if none did. */
  readonly lastAnswerAt?: number | null;
  /** Absent if no answer arrived. */
  readonly answer?: AnswerDescription | null;
  /** The page size to request from now on; null for the default, absent if unknown. */
  readonly pageSize?: number | null;
  /** The interval of reads without a webhook from now on; null for every scheduled round, absent if unknown. */
  readonly everySeconds?: number | null;
  /** True if the answers named the organization; false if a full read accepts that they did not; absent otherwise. */
  readonly answersNameOrganization?: boolean;
}

/** The state of a resource before a sync. */
export interface ListState extends LastRead {
  readonly rows: number;
  /** Whether an earlier read wrote rows and was then interrupted. */
  readonly hasOpenSync: boolean;
  /** When a complete read first lacked most rows. A second read must confirm their removal. Null if nothing is in doubt. */
  readonly doubtedAt: string | null;
  /** The packed versions of the rows whose removal is not confirmed. */
  readonly doubted: Uint8Array | null;
  /** The latest `valid_from` or `valid_to` of its rows. */
  readonly stampAt: string | null;
  /** Whether earlier answers named the organization that owns the rows. */
  readonly answersNameOrganization: boolean;
  /** The state in which the latest read ended. */
  readonly outcome: string | null;
  /** The serialized page digests of the latest whole read; null if none may be used. */
  readonly pageDigests: string | null;
}

/** The latest read of a resource. Instants are epoch milliseconds. */
export interface LastRead {
  /** `refused` despite the permission, or `not_offered` by the registry; null if the resource could be read. */
  readonly declined: 'refused' | 'not_offered' | null;
  /** How many reads in a row were refused. */
  readonly refusals: number;
  readonly attemptedAt: number | null;
  /** Start of the last complete read. */
  readonly dataAsOf: number | null;
  readonly durationMs: number;
  /** The interval of reads without a webhook; null for every scheduled round. */
  readonly everyMs: number | null;
  /** Whether the latest answer did not have the expected format, so that no rows could be parsed from it. */
  readonly hadUnexpectedFormat: boolean;
  /** The page size to request if the registry refuses the default; else null. */
  readonly pageSize: number | null;
}

/** The reason why a resource cannot be read. */
export type AccessMark = 'no_permission' | 'refused' | 'not_offered';
