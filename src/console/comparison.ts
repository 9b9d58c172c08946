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

/** Compares every row with the registry and reports what it is reading. Throws an error whose message is a sentence. */
export type Compare = (tell: (reading: string) => void, stopping: AbortSignal) => Promise<ComparisonResult>;

interface ComparisonStatus {
  readonly running: {
    readonly since: string;
    readonly lists: number;
    readonly reading: string | null;
  } | null;
  readonly finished: {
    readonly at: string;
    readonly outcome: ComparisonResult | { readonly fault: string };
  } | null;
}

export type Comparison = ReturnType<typeof createComparison>;

/** Runs one comparison at a time and remembers the last result until the console stops. */
export function createComparison(compare: Compare, now: () => number) {
  const stopping = new AbortController();
  const instant = () => new Date(now()).toISOString();
  let told: ComparisonStatus = { running: null, finished: null };
  let work: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    const since = instant();
    let lists = 0;
    const tell = (reading: string | null) => {
      told = { ...told, running: { since, lists, reading } };
      lists += 1;
    };
    tell(null);
    const outcome = await compare(tell, stopping.signal).catch((error: unknown) => ({
      fault: error instanceof Error ? error.message : String(error),
    }));
    told = { running: null, finished: { at: instant(), outcome } };
  }

  return {
    begin: (): void => {
      if (told.running === null && !stopping.signal.aborted) work = run();
    },
    told: (): ComparisonStatus => told,
    stop: async (): Promise<void> => {
      stopping.abort();
      await work;
    },
  };
}
