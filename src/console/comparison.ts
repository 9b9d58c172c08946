/** What came of a comparison. */
export interface Compared {
  readonly faults: readonly { readonly check: string; readonly where: string; readonly fault: string }[];
  readonly rows: number;
  readonly organizations: number;
  readonly known: number;
  /** Lists that could not be compared. */
  readonly left: readonly Left[];
}

interface Left {
  readonly organization_id: string | null;
  readonly organization_name: string | null;
  readonly resource: string;
  readonly state: string;
  readonly reason: string | null;
}

/** Holds every row against the registry and says what it reads meanwhile, handed in by who may ask there. Throws a sentence. */
export type Compare = (tell: (reading: string) => void, stopping: AbortSignal) => Promise<Compared>;

interface Told {
  readonly underway: {
    readonly since: string;
    readonly lists: number;
    readonly reading: string | null;
  } | null;
  readonly ended: { readonly at: string; readonly outcome: Compared | { readonly fault: string } } | null;
}

export type Comparison = ReturnType<typeof createComparison>;

/** One at a time; the last one is remembered as long as this runs. */
export function createComparison(compare: Compare, now: () => number) {
  const stopping = new AbortController();
  const instant = () => new Date(now()).toISOString();
  let told: Told = { underway: null, ended: null };
  let work: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    const since = instant();
    let lists = 0;
    const tell = (reading: string | null) => {
      told = { ...told, underway: { since, lists, reading } };
      lists += 1;
    };
    tell(null);
    const outcome = await compare(tell, stopping.signal).catch((error: unknown) => ({
      fault: error instanceof Error ? error.message : String(error),
    }));
    told = { underway: null, ended: { at: instant(), outcome } };
  }

  return {
    begin: (): void => {
      if (told.underway === null && !stopping.signal.aborted) work = run();
    },
    told: (): Told => told,
    stop: async (): Promise<void> => {
      stopping.abort();
      await work;
    },
  };
}
