export interface PauseOptions {
  /** Why nothing may be read now; null where it may. */
  readonly whyPaused: () => string | null;
  readonly everyMs: number;
  readonly begun: (reason: string) => void;
  readonly ended: () => void;
  /** It could not be asked, and stays as it was. */
  readonly failed: (error: unknown) => void;
}

/** Looks once in a while whether work is to pause, and tells of each change. */
export function createPause({ whyPaused, everyMs, begun, ended, failed }: PauseOptions) {
  let on = false;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    const reason = whyPaused();
    if ((reason !== null) === on) return;
    on = reason !== null;
    if (reason === null) ended();
    else begun(reason);
  }

  function lookSafely(): void {
    try {
      look();
    } catch (error) {
      failed(error);
    }
  }

  return {
    start() {
      lookSafely();
      timer = setInterval(lookSafely, everyMs);
    },
    stop: () => clearInterval(timer),
    isOn: () => on,
  };
}
