import { index, joined, table } from '../schema.js';

export const EVENTS = [
  table(
    'events.subscriptions',
    'Subscriptions: the addresses to which events are sent. Their secrets are derived from the key in EVENTS_KEY_FILE and never stored.',
    {
      id: ['text', 'random id of the subscription', 'PRIMARY KEY'],
      url: ['text', 'address to which events are posted', 'NOT NULL'],
      events: ['json', 'types of the events that are sent, as a JSON array', 'NOT NULL'],
      state: ['text', 'active or paused', "NOT NULL CHECK (state IN ('active', 'paused'))"],
      pause_reason: [
        'text',
        'why the subscription is paused; NULL if it is active',
        "CHECK ((pause_reason IS NULL) = (state = 'active'))",
      ],
      created_at: ['instant', 'when the subscription was created', 'NOT NULL'],
      key_check: [
        'text',
        'value by which a wrong key is noticed; it reveals nothing about the key',
        'NOT NULL',
      ],
      generation: ['int', 'number of the current secret; rises with each rotation', 'NOT NULL'],
      previous_until: [
        'instant',
        'until when the secret before the current one signs too; NULL if there is none',
      ],
      epoch: ['text', 'epoch that the subscriber was told about', 'NOT NULL'],
      change_cursor: [
        'int',
        'number of the last change that was delivered, or that a held organization waits for',
        'NOT NULL',
      ],
      occurrence_cursor: ['int', 'the same for numbers of events.occurrences', 'NOT NULL'],
      claim: [
        'int',
        'number of the last claim; a sender with a lower one cannot write',
        'NOT NULL DEFAULT 0',
      ],
      claimed_until: ['instant', 'when the lease of the claim expires; NULL if nobody sends'],
      delivered: ['int', 'number of delivered events', 'NOT NULL DEFAULT 0'],
      refused: ['int', 'number of attempts that failed', 'NOT NULL DEFAULT 0'],
      delivered_at: ['instant', 'when an event was last delivered; NULL if none was'],
    },
  ),
  table(
    'events.held_organizations',
    'Organizations whose events wait because the subscriber refused one of them. Events of other organizations are sent meanwhile.',
    {
      subscription_id: ['text', 'id of the subscription', 'NOT NULL'],
      organization_id: [
        'text',
        "id of the organization; '' for events that concern no single organization, * for mirror.restored",
        'NOT NULL',
      ],
      state: [
        'text',
        'waiting (for the next attempt) or paused (until someone resumes the subscription)',
        "NOT NULL CHECK (state IN ('waiting', 'paused'))",
      ],
      change_position: ['int', 'number of the last change of the organization that was settled', 'NOT NULL'],
      occurrence_position: ['int', 'the same for numbers of events.occurrences', 'NOT NULL'],
      refused_stream: ['text', 'source of the refused event: change, occurrence or epoch', 'NOT NULL'],
      refused_number: ['int', 'number of the refused event in its source', 'NOT NULL'],
      refused_type: ['text', 'type of the refused event', 'NOT NULL'],
      attempts: ['int', 'number of failed attempts in a row', 'NOT NULL'],
      failing_since: ['instant', 'when the first of these attempts failed', 'NOT NULL'],
      failed_at: ['instant', 'when the last of these attempts failed', 'NOT NULL'],
      next_attempt_at: ['instant', 'when the next attempt is due', 'NOT NULL'],
      status: ['int', 'HTTP status of the last answer; NULL if there was none'],
      error: ['text', 'why the last attempt failed, as a code', 'NOT NULL'],
    },
    { rules: ['PRIMARY KEY (subscription_id, organization_id)'] },
  ),
  table(
    'events.event_attempts',
    'Attempts to deliver events. Of an answer only the status is kept. Attempts are deleted after RETENTION_DAYS.',
    {
      id: ['counted', 'id of the attempt; rises in the order of the attempts'],
      subscription_id: ['text', 'id of the subscription', 'NOT NULL'],
      event_id: ['text', 'id of the event: its epoch and number', 'NOT NULL'],
      type: ['text', 'type of the event', 'NOT NULL'],
      attempted_at: ['instant', 'start of the attempt', 'NOT NULL'],
      duration_ms: ['int', 'duration of the attempt in milliseconds', 'NOT NULL'],
      status: ['int', 'HTTP status of the answer; NULL if there was none'],
      error: ['text', 'why the attempt failed, as a code; NULL if the event was delivered'],
    },
  ),
  index('event_attempts_by_subscription', 'events.event_attempts', 'subscription_id, id'),
  index('event_attempts_by_time', 'events.event_attempts', 'attempted_at'),
  table(
    'events.occurrences',
    'Numbered events that are no changes of rows: freshness, failed jobs and purges. Only ids and words from closed sets are stored.',
    {
      number: ['int', 'number of the event; rises in the order of commits', 'PRIMARY KEY'],
      type: ['text', 'type of the event', 'NOT NULL'],
      organization_id: ['text', "id of the organization; '' if the event concerns no single one", 'NOT NULL'],
      subject: ['text', 'resource, or number of the job', 'NOT NULL'],
      detail: ['text', 'reason of the freshness, or code of the failure', 'NOT NULL'],
      occurred_at: ['instant', 'when it happened', 'NOT NULL'],
    },
    { rules: ['UNIQUE (type, organization_id, subject, occurred_at)'] },
  ),
  table(
    'events.stale_lists',
    'Lists that were stale at the last evaluation, so that each change of freshness is sent once.',
    {
      organization_id: ['text', 'id of the organization', 'NOT NULL'],
      resource: ['text', 'resource of the list, as in syncs.resource', 'NOT NULL'],
    },
    { rules: ['PRIMARY KEY (organization_id, resource)'] },
  ),
  table(
    'events.epochs',
    'The current epoch, in one row. Event ids consist of the epoch and a number. A new epoch begins when a backup is restored or the mirror is moved, so that no id is used for two events.',
    {
      only_row: ['int', 'always 1', 'PRIMARY KEY CHECK (only_row = 1)'],
      epoch: ['text', 'random name of the epoch', 'NOT NULL'],
      began_at: ['instant', 'when the epoch began', 'NOT NULL'],
      reason: ['text', 'why it began: created, restored, moved or mirror_replaced', 'NOT NULL'],
      newest_change: ['int', 'number of the newest change when the epoch began', 'NOT NULL'],
      newest_occurrence: ['int', 'highest number in events.occurrences', 'NOT NULL'],
      evaluated_at: ['instant', 'when freshness and failed jobs were last evaluated; NULL if never'],
    },
  ),
] as const;

export const events0001 = () => joined(EVENTS);
