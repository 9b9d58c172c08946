/** The result of comparing the mirror with the registry. */
export interface ComparisonResult {
  readonly faults: readonly { readonly check: string; readonly where: string; readonly fault: string }[];
  readonly rows: number;
  readonly organizations: number;
  readonly known: number;
  /** Lists that could not be compared. */
  readonly uncompared: readonly UncomparedList[];
}

interface UncomparedList {
  readonly organization_id: string | null;
  readonly organization_name: string | null;
  readonly resource: string;
  readonly state: string;
  readonly reason: string | null;
}

/**
 * Compares every row with the registry, and calls `onListStarted` with the name of each list that it reads.
 * Throws an error whose message is a sentence.
 */
export type RegistryComparer = (
  onListStarted: (list: string) => void,
  signal: AbortSignal,
) => Promise<ComparisonResult>;

/** The comparison in progress and the last finished one. */
interface ComparisonStatus {
  readonly running: {
    readonly since: string;
    readonly lists: number;
    readonly reading: string | null;
  } | null;
  readonly finished: {
    readonly at: string;
    readonly outcome: ComparisonOutcome;
  } | null;
}

/** The result of a comparison, or why it failed. */
export type ComparisonOutcome = ComparisonResult | { readonly fault: string };

export type RegistryComparison = ReturnType<typeof createComparisonRunner>;

/** Creates a runner that compares every row of the mirror with the registry, one comparison at a time. */
export function createComparisonRunner(compare: RegistryComparer, now: () => number) {
  const stopping = new AbortController();
  const formatNow = () => new Date(now()).toISOString();
  let status: ComparisonStatus = { running: null, finished: null };
  let currentRun: Promise<void> = Promise.resolve();

  /**
   * Compares the mirror with the registry once. During the comparison, `status` contains the progress. Afterwards, `status`
   * contains the result, or the reason why the comparison failed.
   */
  async function runComparison(): Promise<void> {
    const since = formatNow();
    let lists = 0;
    status = { ...status, running: { since, lists, reading: null } };
    const onListStarted = (reading: string): void => {
      lists += 1;
      status = { ...status, running: { since, lists, reading } };
    };
    const outcome = await compare(onListStarted, stopping.signal).catch((error: unknown) => ({
      fault: error instanceof Error ? error.message : String(error),
    }));
    status = { running: null, finished: { at: formatNow(), outcome } };
  }

  return {
    /** Starts a comparison, unless one is running or the console is stopping. */
    start: (): void => {
      if (status.running === null && !stopping.signal.aborted) currentRun = runComparison();
    },
    getStatus: (): ComparisonStatus => status,
    /** Aborts a running comparison and waits for its end. */
    stop: async (): Promise<void> => {
      stopping.abort();
      await currentRun;
    },
  };
}
