import type { Activity } from '../../query/inbox/activity.js';
import { stretch } from '../../text/stretch.js';
import { counted } from '../components/words.js';

/** What does not go on by itself, where to look, and what helps. */
export interface Trouble {
  readonly what: string;
  readonly href: string;
  readonly todo: string;
  /** What can be done about it here. */
  readonly act?: { readonly path: string; readonly says: string };
}

export function findTroubles(activity: Activity, now: number): Trouble[] {
  const { jobs, worker, receiver, delayed, causes } = activity;
  const isRefused = causes.some(({ check }) => check === 'registry');
  return [
    ...causes.map(({ check, found, todo }) => ({ what: found, todo, ...LEADS[check] })),
    ...when(worker.state !== 'alive', {
      what: worker.state === 'gone' ? 'No worker runs any more' : 'No worker has ever run',
      href: '/jobs',
      todo: 'Start one: carbon-mirror work.',
    }),
    ...when(receiver.state !== 'alive', {
      what: receiver.state === 'gone' ? 'No receiver runs any more' : 'No receiver has ever run',
      href: '/deliveries',
      todo: 'Start one: carbon-mirror receive.',
    }),
    ...delayed.map(({ what, since, deliveryId, jobId, error }) => ({
      what: `${what}, and has waited for ${stretch((now - Date.parse(since)) / 1000)}`,
      href: deliveryId === null ? `/jobs/${jobId}` : `/deliveries/${deliveryId}`,
      todo: error === null ? 'Nothing has gone wrong with it: it waits for its turn.' : `${error}.`,
    })),
    ...when(jobs.triedFirst > 0, {
      what: `${counted(jobs.triedFirst, 'job')} that failed ${jobs.triedFirst === 1 ? 'is' : 'are'} left to be tried again`,
      href: '/jobs?state=waiting',
      todo: 'The registry answers again: they come before what is merely due.',
    }),
    ...when(jobs.retrying > 0, {
      what: `${counted(jobs.retrying, 'job')} failed more than once: ${jobs.retryingError ?? ''}`,
      href: `/jobs/${jobs.retryingJob}`,
      todo: 'It is tried again by itself, ever later.',
    }),
    ...when(jobs.failed > 0, {
      what: `${counted(jobs.failed, 'job has', 'jobs have')} failed`,
      href: '/jobs?state=failed',
      todo: 'The schedule reads the same again; at once: carbon-mirror jobs retry --all.',
      act: { path: '/jobs/retry', says: 'Try them again' },
    }),
    ...when(jobs.paused > 0 && !isRefused, {
      what: `${counted(jobs.paused, 'job')} cannot go on`,
      href: '/jobs?state=paused',
      todo: 'Its error says what must change first; then: carbon-mirror sync.',
      act: READ_NOW,
    }),
  ];
}

const READ_NOW = { path: '/read-now', says: 'Read now' };
const LEADS: Readonly<Record<Activity['causes'][number]['check'], Pick<Trouble, 'href' | 'act'>>> = {
  registry: { href: '/jobs?state=paused', act: READ_NOW },
  rejected_webhooks: { href: '#rejected' },
};

function when(is: boolean, trouble: Trouble): readonly Trouble[] {
  return is ? [trouble] : [];
}
