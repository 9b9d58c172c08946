import { index, joined, table } from '../schema.js';

export const EVIDENCE = [
  table(
    'evidence.leaves',
    'Leaves of the evidence log, in order: a commitment to each thing that the mirror observed. For a row of the mirror, the leaf contains its organization, months and amount, but none of its text.',
    {
      place: ['int', 'index of the leaf in the log, from 0', 'PRIMARY KEY'],
      kind: [
        'text',
        'what the leaf records: change, sync, unchanged (a span of scheduled reads that found nothing new), open_span (such a span that had not ended when evidence was exported), coverage, organization, complete, forget, purge, restore or key',
        'NOT NULL',
      ],
      number: [
        'int',
        'number of the change, or id of the sync or span; for other kinds, equal to place',
        'NOT NULL',
      ],
      subject: [
        'text',
        'id of the organization that the leaf concerns; NULL if it concerns none, or if the leaf was erased',
      ],
      resource: [
        'text',
        'resource that changed or was read, as in syncs.resource; NULL for kinds that concern no single resource',
      ],
      ended: ['int', 'version that the change ended; NULL if it ended none, or for other kinds'],
      observed: [
        'text',
        'month (YYYY-MM) in which the mirror observed the new version; NULL for removals, members, projects and other kinds',
      ],
      dated: [
        'text',
        'month (YYYY-MM) in which the row was created, according to the registry; NULL if unknown, and whenever observed is NULL',
      ],
      micro: [
        'text',
        'amount of the new version in millionths of a tonne, as decimal text; NULL if the row has no amount, and whenever observed is NULL',
      ],
      read_at: ['text', 'start of the read; for a span, of its last read. NULL for kinds that are not reads'],
      is_complete: ['int', '1 if the read was complete, 0 if it was not. NULL for kinds that are not reads'],
      record: [
        'text',
        'content of the leaf as canonical JSON; NULL for change, sync and unchanged, whose content is in rows of the mirror',
      ],
      salt: [
        'bytes',
        '32 random bytes that are hashed in front of the record; NULL if the leaf was erased by forget or purge, as are all columns that reveal its content',
      ],
      commitment: ['bytes', 'SHA-256 of the salt followed by the record as canonical JSON', 'NOT NULL'],
      code: [
        'text',
        'authentication code of place, kind, number, resource and commitment: 16 bytes of an HMAC-SHA-256 in hex, with a key derived from the signing key',
        'NOT NULL',
      ],
      plain_code: [
        'text',
        'authentication code of all other columns of the leaf, including those that reveal its content; NULL if the leaf was erased',
      ],
    },
    { rules: ['UNIQUE (kind, number)'] },
  ),
  index('leaves_by_list', 'evidence.leaves', 'subject, resource, number', "kind = 'change'"),
  /** Finds the newest complete read of a resource, and counts the incomplete reads after it. */
  index(
    'leaves_by_read',
    'evidence.leaves',
    'subject, resource, is_complete, read_at',
    'is_complete IS NOT NULL',
  ),
  index('leaves_erased', 'evidence.leaves', 'place', 'salt IS NULL'),
  index('leaves_by_subject', 'evidence.leaves', 'subject, place', "kind = 'coverage'"),
  index('leaves_by_organization', 'evidence.leaves', 'subject, place', "kind = 'organization'"),
  table('evidence.checkpoints', 'Signed checkpoints of the evidence log.', {
    size: ['int', 'number of leaves that the checkpoint covers', 'PRIMARY KEY'],
    peaks: ['bytes', 'hashes of the complete subtrees, largest first, 32 bytes each', 'NOT NULL'],
    note: ['text', 'text of the checkpoint with its signature, as it is published', 'NOT NULL'],
  }),
  table(
    'evidence.attestations',
    'Checkpoints that left this machine: printed by a command, or signed by a timestamp authority. For reminders and exports only; it is not sealed.',
    {
      size: ['int', 'number of leaves that the checkpoint covers', 'NOT NULL'],
      kind: ['text', 'printed or timestamp', 'NOT NULL'],
      requested_at: ['instant', 'when it was printed or requested', 'NOT NULL'],
      attested_at: ['instant', 'the instant that the authority signed; NULL if it was printed'],
      token: ['bytes', 'time-stamp token of RFC 3161; NULL if it was printed'],
    },
    { rules: ['PRIMARY KEY (size, kind)'] },
  ),
  index('attestations_newest', 'evidence.attestations', 'kind, requested_at'),
  table(
    'evidence.sealer',
    'Lock of the process that seals the evidence log. One row after the first sealing.',
    {
      only_row: ['int', 'always 1', 'PRIMARY KEY CHECK (only_row = 1)'],
      holder: ['text', 'random name of the process that holds the lock', 'NOT NULL'],
      until_at: ['instant', 'expiry of the lock', 'NOT NULL'],
    },
  ),
] as const;

export const evidence0001 = () => joined(EVIDENCE);
