/** Answers null where all is well, else what is wrong, in words that may be shown. */
export type HealthCheck = () => string | null | Promise<string | null>;

/** Each check's `ok` or what is wrong. What a check throws is not shown: it may hold a path or worse. */
export async function runHealthChecks(
  checks: Readonly<Record<string, HealthCheck>>,
  deadlineMs: number,
): Promise<Record<string, string>> {
  const results = Object.entries(checks).map(async ([name, check]) => [
    name,
    await runCheck(check, deadlineMs),
  ]);
  return Object.fromEntries(await Promise.all(results));
}

async function runCheck(check: HealthCheck, deadlineMs: number): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<string>(resolve => {
    timer = setTimeout(() => resolve('no answer in time'), deadlineMs);
  });
  const answer = (async () => (await check()) ?? 'ok')().catch(() => 'failed');
  return await Promise.race([answer, deadline]).finally(() => clearTimeout(timer));
}
