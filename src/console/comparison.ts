/** What came of a comparison. */
export interface Compared {
  readonly faults: readonly { readonly check: string; readonly where: string; readonly fault: string }[];
  readonly rows: number;
  readonly organizations: number;
  readonly known: number;
  /** Lists that could not be compared. */
  readonly left: number;
}

/** Holds every row against the registry and says what it reads meanwhile, handed in by who may ask there. Throws a sentence. */
export type Compare = (tell: (reading: string) => void, stopping: AbortSignal) => Promise<Compared>;

interface Underway {
  readonly since: string;
  readonly lists: number;
  readonly reading: string | null;
}

interface Ended {
  readonly at: string;
  readonly outcome: Compared | { readonly fault: string };
}

export type Comparison = ReturnType<typeof createComparison>;

/** One at a time; the last one is remembered as long as this runs. */
export function createComparison(compare: Compare, now: () => number) {
  const stopping = new AbortController();
  const instant = () => new Date(now()).toISOString();
  let underway: Underway | null = null;
  let ended: Ended | null = null;
  let work: Promise<void> = Promise.resolve();

  async function run(begun: Underway): Promise<void> {
    underway = begun;
    const tell = (reading: string) => {
      underway = { ...begun, lists: (underway?.lists ?? 0) + 1, reading };
    };
    const outcome = await compare(tell, stopping.signal).catch((error: unknown) => ({
      fault: error instanceof Error ? error.message : String(error),
    }));
    ended = { at: instant(), outcome };
    underway = null;
  }

  return {
    begin: (): void => {
      if (underway === null && !stopping.signal.aborted)
        work = run({ since: instant(), lists: 0, reading: null });
    },
    told: () => ({ underway, ended }),
    stop: async (): Promise<void> => {
      stopping.abort();
      await work;
    },
  };
}
