/** Returns null if all is well, else what is wrong, in words that may be shown to anyone. */
export type HealthCheck = () => string | null | Promise<string | null>;

/** Runs checks in parallel. Returns "ok" or the problem for each check. */
export async function runHealthChecks(
  checks: Readonly<Record<string, HealthCheck>>,
  deadlineMs: number,
): Promise<Record<string, string>> {
  const results = Object.entries(checks).map(async ([name, check]) => [
    name,
    await runHealthCheck(check, deadlineMs),
  ]);
  return Object.fromEntries(await Promise.all(results));
}

/** Runs a health check with a time limit. Returns "ok" or the problem. */
async function runHealthCheck(check: HealthCheck, deadlineMs: number): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<string>(resolve => {
    timer = setTimeout(() => resolve('no answer in time'), deadlineMs);
  });
  // The message of an error may contain a path or a secret, so only "failed" is shown.
  const result = (async () => (await check()) ?? 'ok')().catch(() => 'failed');
  return await Promise.race([result, deadline]).finally(() => clearTimeout(timer));
}
