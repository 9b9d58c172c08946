import type { ClaimRef } from '../../inbox/job.js';

export interface LeasesOptions {
  /** Answers the ids of those that are no longer ours. */
  readonly renew: (held: readonly ClaimRef[], leaseMs: number) => Promise<readonly number[]>;
  readonly leaseMs: number;
  /** The claim is another's, or may be. */
  readonly lost: (id: number) => void;
  /** They were not renewed this time. */
  readonly failed: (error: unknown) => void;
}

interface Lease {
  readonly held: ClaimRef;
  /** When nobody may believe in it any more. */
  end: NodeJS.Timeout | undefined;
}

/**
 * Renews all of them together, three times a lease and never twice at once. One whose last good renewal is a lease old
 * is lost, whatever the inbox does: another process may have taken the job.
 */
export function createLeases({ renew, leaseMs, lost, failed }: LeasesOptions) {
  const leases = new Map<number, Lease>();
  let renewing = false;
  let timer: NodeJS.Timeout | undefined;

  const endAfter = (lease: Lease, ms: number) => setTimeout(() => lose(lease), ms);
  const isHeld = (lease: Lease) => leases.get(lease.held.id) === lease;

  function drop(id: number): void {
    clearTimeout(leases.get(id)?.end);
    leases.delete(id);
  }

  function lose(lease: Lease): void {
    if (!isHeld(lease)) return;
    drop(lease.held.id);
    lost(lease.held.id);
  }

  function replaceEnd(lease: Lease, end: NodeJS.Timeout): void {
    clearTimeout(isHeld(lease) ? lease.end : end);
    lease.end = end;
  }

  async function renewAll(): Promise<void> {
    if (renewing || leases.size === 0) return;
    renewing = true;
    const asked = Array.from(leases.values(), lease => ({ lease, end: endAfter(lease, leaseMs) }));
    try {
      const held = asked.map(({ lease }) => lease.held);
      const gone = await renew(held, leaseMs);
      for (const { lease, end } of asked) {
        replaceEnd(lease, end);
        if (gone.includes(lease.held.id)) lose(lease);
      }
    } catch (error) {
      for (const { end } of asked) clearTimeout(end);
      failed(error);
    } finally {
      renewing = false;
    }
  }

  return {
    /** From now on it is renewed. `agoMs` is how long ago its lease may have begun. */
    take: (held: ClaimRef, agoMs: number): void => {
      const lease: Lease = { held, end: undefined };
      lease.end = endAfter(lease, Math.max(leaseMs - agoMs, 0));
      leases.set(held.id, lease);
    },
    drop,
    start: () => {
      timer = setInterval(() => void renewAll(), leaseMs / 3);
    },
    stop: () => {
      clearInterval(timer);
      for (const id of leases.keys()) drop(id);
    },
  };
}
