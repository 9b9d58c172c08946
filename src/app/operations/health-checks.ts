/** Returns null if all is well, else what is wrong, in words that may be shown to anyone. */
export type HealthCheck = () => string | null | Promise<string | null>;

/**
 * Runs checks in parallel and returns for each `ok` or what is wrong. An error that a check throws is shown only as `failed`,
 * because its message may contain a path or a secret.
 */
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

async function runHealthCheck(check: HealthCheck, deadlineMs: number): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<string>(resolve => {
    timer = setTimeout(() => resolve('no answer in time'), deadlineMs);
  });
  const result = (async () => (await check()) ?? 'ok')().catch(() => 'failed');
  return await Promise.race([result, deadline]).finally(() => clearTimeout(timer));
}
