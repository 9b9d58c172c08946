import { index, joined, table } from '../schema.js';

export const evidence0001 = () =>
  joined([
    table(
      'evidence.leaves',
      'What was sealed: a commitment to each thing that the mirror observed, in the order of the log. Of a row it has whose it is, its months and its amount, and no text.',
      {
        place: ['int', 'its place in the log, from 0', 'PRIMARY KEY'],
        kind: [
          'text',
          'change, sync, unchanged (a span of scheduled reads that found nothing new), coverage, organization, complete, forget, purge, restore or key',
          'NOT NULL',
        ],
        number: ['int', 'number of the change, or id of the sync or span; else its place', 'NOT NULL'],
        subject: [
          'text',
          'the organization that it speaks of; null where it is nobody, and once it was purged',
        ],
        resource: ['text', 'of a change: what changed, by its word in changes; null elsewhere'],
        ended: ['int', 'of a change: the number of the version that it ended; null where it ended none'],
        observed: [
          'text',
          'of a change by which a row stands: the month in which it was observed; null elsewhere, and of people',
        ],
        dated: ['text', 'the month in which the registry says that the row was created'],
        micro: ['text', 'millionths of a tonne, in digits'],
        record: [
          'text',
          'what the leaf says, as canonical JSON; null of change and sync, which rows of the mirror say',
        ],
        salt: [
          'bytes',
          'the 32 random bytes in front of the record; null once it was forgotten or purged, like all that tells of it',
        ],
        commitment: ['bytes', 'SHA-256 of salt and record, as canonical JSON', 'NOT NULL'],
      },
      { rules: ['UNIQUE (kind, number)'] },
    ),
    index('leaves_by_list', 'evidence.leaves', 'subject, resource, number', "kind = 'change'"),
    index('leaves_by_subject', 'evidence.leaves', 'subject, place', "kind = 'coverage'"),
    index('leaves_by_organization', 'evidence.leaves', 'subject, place', "kind = 'organization'"),
    table('evidence.checkpoints', 'Every checkpoint that was signed.', {
      size: ['int', 'leaves that it covers', 'PRIMARY KEY'],
      peaks: ['bytes', 'hashes of its complete subtrees, the largest first, 32 bytes each', 'NOT NULL'],
      note: ['text', 'the checkpoint with its signature, as it is given away', 'NOT NULL'],
    }),
    table('evidence.sealer', 'Who seals now. One row once anybody has.', {
      only_row: ['int', 'always 1', 'PRIMARY KEY CHECK (only_row = 1)'],
      holder: ['text', 'a random name of who seals', 'NOT NULL'],
      until_at: ['instant', 'until when nobody else does', 'NOT NULL'],
    }),
  ]);
