import type { ClaimRef } from '../../inbox/job.js';

export interface LeaseKeeperOptions {
  /** Extends the leases of these claims. Returns the ids of the jobs whose claim now belongs to another worker. */
  readonly renewClaims: (claims: readonly ClaimRef[], leaseMs: number) => Promise<readonly number[]>;
  readonly leaseMs: number;
  /** Called when a claim is lost or its lease may have expired. */
  readonly onLost: (jobId: number) => void;
  /** Called when a renewal failed; the leases keep their old expiry. */
  readonly onRenewalFailed: (error: unknown) => void;
}

/** A claim whose lease is renewed, and the timer that ends the lease if no renewal succeeds. */
interface Lease {
  readonly claim: ClaimRef;
  expiryTimer: NodeJS.Timeout | undefined;
}

/** Creates a keeper that renews the leases of running jobs, three times per lease period. */
export function createLeaseKeeper({ renewClaims, leaseMs, onLost, onRenewalFailed }: LeaseKeeperOptions) {
  const leases = new Map<number, Lease>();
  let renewalInProgress = false;
  let renewalTimer: NodeJS.Timeout | undefined;

  /** Starts a timer that reports the job of a lease as lost after `ms` milliseconds. Returns the timer. */
  function startExpiryTimer(lease: Lease, ms: number): NodeJS.Timeout {
    // After a whole period without renewal, another worker may have claimed the job.
    return setTimeout(() => reportLost(lease), ms);
  }

  /** Whether a lease is still kept and has not been replaced. */
  function isCurrent(lease: Lease): boolean {
    return leases.get(lease.claim.id) === lease;
  }

  /** Stops renewing the lease of a job, without reporting the job as lost. */
  function remove(jobId: number): void {
    clearTimeout(leases.get(jobId)?.expiryTimer);
    leases.delete(jobId);
  }

  /** Stops renewing a lease and reports its job as lost. Ignores a lease that was replaced or removed. */
  function reportLost(lease: Lease): void {
    if (!isCurrent(lease)) return;
    remove(lease.claim.id);
    onLost(lease.claim.id);
  }

  /** Replaces the expiry timer of a renewed lease. Clears the new timer if the lease no longer exists. */
  function replaceExpiryTimer(lease: Lease, newTimer: NodeJS.Timeout): void {
    clearTimeout(isCurrent(lease) ? lease.expiryTimer : newTimer);
    lease.expiryTimer = newTimer;
  }

  /** Renews all leases with one request to the inbox, and reports lost jobs. Does nothing during another renewal. */
  async function renewAll(): Promise<void> {
    if (renewalInProgress || leases.size === 0) return;
    renewalInProgress = true;
    // Start the new expiry timers before the request: a lease counts from when its renewal was requested.
    const renewals = Array.from(leases.values(), lease => ({
      lease,
      newTimer: startExpiryTimer(lease, leaseMs),
    }));
    try {
      const claims = renewals.map(({ lease }) => lease.claim);
      const lostIds = await renewClaims(claims, leaseMs);
      for (const { lease, newTimer } of renewals) {
        replaceExpiryTimer(lease, newTimer);
        if (lostIds.includes(lease.claim.id)) reportLost(lease);
      }
    } catch (error) {
      for (const { newTimer } of renewals) clearTimeout(newTimer);
      onRenewalFailed(error);
    } finally {
      renewalInProgress = false;
    }
  }

  return {
    /** Starts renewing the lease of a claimed job. `ageMs` is how long ago the lease began. */
    add(claim: ClaimRef, ageMs: number): void {
      const lease: Lease = { claim, expiryTimer: undefined };
      lease.expiryTimer = startExpiryTimer(lease, Math.max(leaseMs - ageMs, 0));
      leases.set(claim.id, lease);
    },
    remove,
    /** Starts the timer that renews all leases. */
    start(): void {
      renewalTimer = setInterval(() => void renewAll(), leaseMs / 3);
    },
    /** Stops the lease keeper: it renews no leases and forgets all of them, without reporting their jobs as lost. */
    stop(): void {
      clearInterval(renewalTimer);
      for (const jobId of leases.keys()) remove(jobId);
    },
  };
}
