interface Promised {
  readonly promise: string;
  /** A file of test/ and the title of a test as it stands there. */
  readonly tests: readonly string[];
  /** What plays more of it or measures it. */
  readonly commands?: readonly string[];
  /** The figure that such a command reached, and at which commit, when, on which machine. */
  readonly reached?: readonly [figure: string, at: string];
}

interface Group {
  readonly title: string;
  readonly says?: string;
  readonly promises: readonly Promised[];
}

/** What README and the documents promise, and the tests that hold it. docs/promises.md is made from this. */
export const GROUPS: readonly Group[] = [
  {
    title: 'Nothing is lost, nothing is made up',
    promises: [
      {
        promise: 'A delivery answered 202 is on disk',
        tests: [
          'webhook/kill: T61 a receiver that is killed loses nothing that it had answered, and leaves nothing half-written',
          'webhook/mutants: one that is given before the commit breaks it',
          'engines/sqlite/open: T62 every open flushes commits to disk, a file that exists already included',
        ],
        commands: ['torture -- receiver', 'torture -- power'],
        reached: [
          '110 kills with 32 posts in flight each, 55,504 acknowledged, 0 lost; 50 power cuts, 10,257 acknowledged, 0 lost',
          'c5e72c3, 2026-11-21',
        ],
      },
      {
        promise: 'Every accepted delivery leads to a read that began after it',
        tests: [
          'flows/deliveries: a delivery is read again after it arrived, even while its installation was just being read',
          'flows/deliveries: lost, repeated and reordered deliveries end in the same rows',
          'flows/mutants: merged with the read that runs, it would be lost',
        ],
        commands: ['torture -- orders'],
        reached: ['all 5,040 orders of the seven events, equal after each', 'c5e72c3, 2026-11-21'],
      },
      {
        promise: 'Repeats merge work and never drop the last read',
        tests: [
          'contract/inbox-deliveries: T09 50 identical deliveries lead to one read, and at most one after it',
          'flows/repeats: T20 three captured deliveries in rotation are read less than 12 times a minute, and nothing falls behind',
        ],
      },
      {
        promise: 'The mirror ends up equal to the registry',
        tests: [
          'flows/history: whatever happens, the mirror at rest equals the registry, and its history stays true and tells nothing before it was said (seed %i)',
          'flows/history: in these histories deliveries were lost, workers and the registry were killed, rows were closed and clocks put back',
        ],
        commands: ['torture -- mirror'],
        reached: [
          '500 random histories equal at every rest: 10,500 operations, 573 drops, 292 kills, 818 closed rows',
          'c5e72c3, 2026-11-21',
        ],
      },
      {
        promise: 'A worker that is killed loses nothing and leaves nothing half-written',
        tests: [
          'flows/processes: T61 a worker process that is killed again and again in the middle of its work loses nothing and halves nothing',
          'flows/certificates: a walk that was killed goes on where it stopped',
        ],
        commands: ['torture -- mirror'],
      },
      {
        promise: 'One worker at a time reads a lane of an organization',
        tests: [
          'flows/processes: T63 two and four worker processes on one pair of databases run no job twice at once',
          'sync/worker: T63 the control: without claims two workers do clash',
        ],
      },
      {
        promise: 'An older read never overwrites a newer one',
        tests: [
          'flows/mutants: its write is refused',
          'flows/mutants: without the fence it would bring back what is gone',
          'mirror/fence: T44 it would, were the fence broken',
        ],
      },
      {
        promise: 'A bad answer deletes nothing',
        tests: [
          'flows/answers: T35 a warehouse that is suddenly all but empty is believed only when a second read a minute later agrees',
          'contract/mirror-closing: T37 a pass whose total does not fit closes nothing and is partial',
          'mirror/closing: T35 the same read believes it when the gate is broken',
        ],
        commands: ['torture -- fuzz answers=100000'],
        reached: ['100,000 answers, 36,819 read, 63,181 refused, no crash', '9cfd63e, 2026-11-21'],
      },
      {
        promise: 'A job that keeps failing ends in a list that people see',
        tests: [
          'sync/worker: T64 a job whose process dies every time is buried after its attempts, where people see it',
          'flows/answers: T38 an app that is no longer known is parked where people see it, and is no loop',
        ],
      },
      {
        promise: 'The sandbox creates no credit out of nothing and loses none',
        tests: [
          'sandbox/conservation: Credits are conserved over ${SEQUENCES} random sequences of operations, ten at a time',
        ],
        commands: ['torture -- credits'],
        reached: ['1,000 sequences, no credit unequal', 'fe159b8, 2026-11-21'],
      },
    ],
  },
  {
    title: 'Dated, fresh and provable',
    promises: [
      {
        promise: 'History dates nothing before the registry had said it',
        tests: [
          'flows/history: in these histories deliveries were lost, workers and the registry were killed, rows were closed and clocks put back',
          'contract/mirror-history: those histories had rows that went, reads that broke off and lists that moved',
        ],
        commands: ['torture -- mirror'],
        reached: [
          'with page sizes of 10 to 100 and the clock put back: 1,050 operations, 51 kills, 156 steps back, nothing dated too early',
          'c5e72c3, 2026-11-21',
        ],
      },
      {
        promise: 'A list is `behind` when a delivery announced something and nobody has read it',
        tests: [
          'flows/behind: a worker that is just slow shows when a minute has passed, and no longer once it has read',
          'flows/behind: a dead worker shows after at most 75 seconds, also where nothing waits',
          'flows/behind: repeats and replays that are read leave it current',
        ],
      },
      {
        promise: 'After a clock was put back, nothing old counts as current',
        tests: [
          'flows/clock: after the clock was put back what is dated in the future is late, never current, and the schedule reads it at once',
        ],
      },
      {
        promise: 'The mirror has the same instants in every time zone',
        tests: [
          'flows/processes: T68 the mirror is the same, instant by instant, in Berlin, on Newfoundland and on Samoa',
        ],
      },
      {
        promise: 'When access ends nothing is deleted; rows stay as they were, and `freshness` says why',
        tests: [
          'flows/lifecycle: suspension stops reading and keeps the rows, its end resumes it',
          'flows/lifecycle: T40 an uninstalled organization is frozen, and no token is asked for again',
        ],
      },
      {
        promise: 'A certificate is stored as it came, once, and never overwritten',
        tests: [
          'flows/certificates: T52 a certificate that changes later is kept beside the old one, and the history shows both',
          'flows/certificates: each of many certificates is asked for once, however many come at the same time',
          'cli/verify: a certificate that was changed or removed is found by its hash',
        ],
      },
      {
        promise: '`verify` finds what was changed by hand',
        tests: [
          'cli/verify: each column that was changed by hand in any table is told, and what it is called',
          'cli/verify: counters and versions that contradict the rows are found',
          'flows/forged: T89 a column and its document that were changed alike are told by the registry alone, and are replaced',
          'flows/forged: T89 a date of the mirror that its read cannot have given is told, and no sync makes up another',
        ],
      },
      {
        promise: '`sync --full` restores a row that was changed by hand, as the registry shows it',
        tests: [
          'flows/forged: T89 a column that was changed by hand is told, and is as it was after a sync in full',
          'contract/mirror-forged: T89 a read in full replaces a row whose columns and document were changed alike',
          'contract/mirror-forged: T89 a read in full brings back what was removed by hand, and closes what was written in',
        ],
      },
      {
        promise: '`available` lists what is active, permitted and current, and the rest apart',
        tests: [
          'cli/available: what can be sold adds up to what the warehouses hold',
          'cli/available: what is known but not for sale stands in a part of its own, with its state and age',
        ],
      },
      {
        promise: 'What was purged or forgotten is gone',
        tests: [
          'cli/erasing: leaves no id of the organization in any byte of the mirror and its files',
          'cli/erasing: holds while a read of members is under way: what was compared before is not written after',
        ],
      },
    ],
  },
  {
    title: 'Changes, reasons, balance',
    promises: [
      {
        promise:
          'Each change is told once, in the order in which the mirror learnt it, removed rows included',
        tests: [
          'contract/mirror-changes: whoever keeps the last number finds every change once, in order, those of rows that are gone too (seed %i)',
          'cli/changes: a follower that is killed at random has each change once (seed %i)',
          'cli/changes: the same test notices a follower that begins at its number instead of after it',
        ],
        commands: ['torture -- changes'],
        reached: ['1,035 random histories on files and 1,028 in PostgreSQL, none red', '4666351, 2026-11-22'],
      },
      {
        promise: 'A change is printed as a sentence, and the sums stand at the end',
        tests: [
          'cli/changes: a change is a line that a person can read, under its day, and the sums stand at the end',
          'contract/mirror-told: what is read for sentences makes the same sentences and the same sums as the view (seed %i)',
        ],
      },
      {
        promise: '`explain` says who showed a row and why it is so, and what is not known',
        tests: [
          'cli/explain: a row is told with the read that showed it, the last that saw it so, and the one that ended it',
          'cli/explain: before the first complete read it says what can still be said, and ends as a check does',
          'cli/explain: a read that broke is named as what may have missed changes',
          'cli/explain: the certificate is told by its hash, and whether its file is still that one',
        ],
        commands: ['torture -- changes'],
        reached: [
          '20,000 rows of 1,000 histories, each explained as the sandbox had recorded it',
          '4666351, 2026-11-22',
        ],
      },
      {
        promise: 'What does not add up is named, with its rows',
        tests: [
          'contract/mirror-balance: holds, moves and retirements tie in each of the four balances',
          'contract/mirror-balance: %s alone names %s',
          'cli/balance: what does not tie is listed with its rows, and the exit says so',
          'cli/balance: where nothing had been read yet it is not said that anything ties',
        ],
        commands: ['torture -- changes'],
      },
      {
        promise: 'A change of a year that was over is listed as a restatement',
        tests: [
          'contract/mirror-restatements: what was changed or taken back after its year is a restatement of that year, and nothing else',
          'flows/findings: an amount that is restated after its year is a restatement; one within it is a change',
          'flows/findings: a certificate that is another file than before is a restatement',
        ],
      },
      {
        promise: 'Credits that cannot be right are found and counted',
        tests: [
          'flows/findings: an amount below zero is found',
          'flows/findings: a serialization that stands for two credits is found, and does not balance',
          'flows/findings: what is retired and listed as before is found, and does not balance',
          'flows/findings: a hold that is outstanding an hour after its end is found',
          'flows/findings-counted: what is found is counted in status, doctor and verify, and is no fault of the mirror',
        ],
      },
    ],
  },
  {
    title: 'Attacks',
    promises: [
      {
        promise: 'Who comes back from an installation is thanked, and nothing of the address is kept',
        tests: [
          'flows/install: from the address that install-url makes to a page that says thank you, and the credits',
          'webhook/receiver: T79 who comes back from the registry’s page reads one fixed page, and nothing of the address is kept or said',
        ],
      },
      {
        promise: 'A forged post is refused and not stored',
        tests: [
          'webhook/receiver: T01 is refused and not stored: 2,000 random changes, with a genuine one among every 20',
          'webhook/storm: T15 50 genuine posts among 3,000 forged ones are all accepted',
        ],
        commands: ['torture -- fuzz posts=100000'],
        reached: ['100,000 posts, all 9,993 genuine ones answered 202, no 5xx', '9cfd63e, 2026-11-21'],
      },
      {
        promise: 'No post, answer or command line makes it crash, answer 500, show a stack or grow',
        tests: [
          'flows/fuzz: %s at random bring about no crash, no 500, no stack and no rejection',
          'flows/fuzz: %s at random finds out a program with one line broken',
        ],
        commands: ['torture -- fuzz'],
        reached: [
          '100,000 posts, 100,000 answers, 10,000 command lines with codes 0, 2, 3, 5, 6 and 130',
          '9cfd63e, 2026-11-21',
        ],
      },
      {
        promise: 'Only the configured registry is called, and no id becomes a path unchecked',
        tests: [
          'registry/http: T30 URLs in an answer are never called',
          'registry/http: T31 the id %j never reaches the wire',
          'registry/http: T32 a redirect %i is refused and the other host sees nothing',
        ],
      },
      {
        promise: 'No secret, token or key stands in a log, a row, a metric or an error',
        tests: [
          'app/secrets: T69 after every kind of trouble no secret, token, JWT or key is anywhere that can be read',
          'app/secrets: the search finds what is planted, in every form',
        ],
      },
      {
        promise:
          'A full disk and a locked database turn deliveries away with 503 and are forgotten once they are over',
        tests: [
          'webhook/storm: T17 a full disk turns deliveries away with 503, and is forgotten once there is room',
          'webhook/storm: T17 a locked database turns deliveries away with 503, and is forgotten once it is free',
        ],
      },
      {
        promise: 'An organization whose answers never come keeps nobody waiting',
        tests: [
          'flows/answers: T33 an organization whose answers never come keeps nobody else waiting',
          'sync/worker: a huge organization in every place does not keep a small one waiting',
        ],
      },
      {
        promise: 'A question in SQL changes nothing, and is stopped at its time limit',
        tests: [
          'cli/reading: a query that never ends is stopped at its time limit, exit 3',
          'cli/query: would leave a process at work if nobody watched beside the SQL',
        ],
      },
    ],
  },
  {
    title: 'Who gets in at the console',
    promises: [
      {
        promise: 'The console listens on loopback only',
        tests: ['console/guard: T80 it listens on loopback, and at no other address of this machine'],
      },
      {
        promise: 'It answers to its own names only, and checks them before anything else',
        tests: [
          'console/guard: %s is ours',
          'console/guard: %s is not, whoever asks and whatever for',
          'console/guard: is asked for by every method, before what may be done',
          'browser/gate: T80 a name that somebody else pointed at this machine shows nothing, by the printed address either',
        ],
      },
      {
        promise: 'The printed address is good once, and sets a cookie',
        tests: [
          'console/guard: the address that is printed is exchanged for a cookie of this port, once',
          'console/guard: it is good for half a day, and a visit for a month',
          'browser/gate: T81 no script sees the cookie, and none of it goes along to a page that is not ours',
        ],
      },
      {
        promise: 'A visitor who follows a link, as from a mail, is still let in',
        tests: ['browser/gate: T81 a link of another page, as in a mail, finds its visitor let in: %s'],
      },
      {
        promise: 'The address is printed on a terminal only; `console url` prints it again',
        tests: [
          'cli/console: T70 what lets a browser in stands in a file of its owner alone, is printed on a terminal only, and again by its own command',
        ],
      },
      {
        promise: 'Without the cookie a page says only how to get in',
        tests: ['console/guard: without one nothing is told but that'],
      },
      {
        promise: 'Only a page of the console can change something',
        tests: [
          'console/guard: not %s %s',
          'console/acts: T82 a page of another site asks for nothing',
          'browser/gate: T82 a hostile page posts nothing by its visitor’s browser: %s',
          'browser/gate: T82 by a name for which a browser says no Sec-Fetch-Site, its Origin tells a form of ours from one of a neighbour',
        ],
      },
      {
        promise: 'No page of another site reads or shows anything of it',
        tests: [
          'console/guard: T83 every answer says what a browser may do with it',
          'console/retirement: the file comes as it was stored, for a page of ours to show and for no other',
          'browser/gate: T83 a hostile page reads, shows and hears nothing, although its visitor is let in: %s',
          'browser/gate: T83 a window that a hostile page opens has lost its opener: %s',
        ],
      },
      {
        promise: 'A name from the registry is text everywhere',
        tests: [
          'console/html: T83 what is put into markup is text, wherever it stands',
          'browser/names: T83 a name that is markup is text on every page that a link leads to, and makes none wider than 380 pixels',
        ],
      },
    ],
  },
  {
    title: 'The console, in a real browser',
    says: 'Each of these tests also fails at an error in the browser, a report of its policy or a request to another host.',
    promises: [
      {
        promise: 'An open page follows changes without being loaded anew',
        tests: [
          'browser/console: an operator: Now follows a reservation that is made elsewhere as the console tells of it, without being loaded anew',
        ],
      },
      {
        promise: 'The address of a retirement, also as of an instant, shows the same later',
        tests: [
          'browser/console: an auditor: a retirement with its certificate, as of an instant, by an address that shows the same',
          'contract/as-of: T84 just before, at and just after each change every list, certificates, as-of, export, page and _history tell what stood there by then: nothing of later, nothing missing',
        ],
      },
      {
        promise: 'A page shows what became of a webhook; a lost one is drift',
        tests: [
          'browser/console: a developer: a webhook came, and its strip says what it changed; a lost one is found by reading',
          'browser/console: a webhook that is lost becomes drift that is seen, once the schedule has read',
        ],
      },
      {
        promise: 'A dead worker and a buried job are shown, and a button tries the job again',
        tests: [
          'browser/console: a worker that died is seen on a page that is open, and so is the one that takes its place',
          'browser/console: a buried job stands under what is stuck, and is tried again by its button',
        ],
      },
      {
        promise:
          'The console works without JavaScript, by the keyboard alone, in the dark, 380 pixels wide and on paper',
        tests: [
          'browser/console: without JavaScript all of it is there, and forms work',
          'browser/console: by the keyboard alone: the first stop leads past the menu, / searches, ? helps, and each thing is reached and done',
          'browser/console: in the dark the page is dark, and its words stand out',
          'browser/console: no page is wider than a window of 380 pixels',
          'browser/console: on paper there is no menu and no form',
        ],
      },
      {
        promise:
          'What somebody has opened, marked or focused stays as it is; a page says when the connection is lost',
        tests: [
          'browser/console: what somebody has %s stays as it is until it is left, and the rest goes on',
          'browser/console: a page that is not there does not say that the console is gone; one that cannot be fetched does, until it can',
        ],
      },
      {
        promise: 'A list says how old its rows are, and of how many organizations',
        tests: [
          'console/lists: says how old its rows are and of how many organizations, and where they were never read',
        ],
      },
      {
        promise: 'An automatic check of accessibility finds nothing serious',
        tests: ['browser/console: nobody stumbles over anything serious'],
      },
      {
        promise: 'The console does the same on PostgreSQL',
        tests: [
          'browser/postgres: on PostgreSQL with the settings of a running sandbox the console is full, its Demo moves the registry, and all of it is checked and taken away',
        ],
      },
      {
        promise: 'Each task that the console can do takes four clicks at most',
        tests: [
          'browser/tasks: each task of docs/tasks.md is one of these, and is counted',
          'browser/tasks: by eye, in as many clicks as are counted: %s',
        ],
      },
    ],
  },
  {
    title: 'Names, packages and documents',
    promises: [
      {
        promise: 'The names of tables, commands, settings, metrics and exports stay',
        tests: [
          'public-names: %s, and what each of them has',
          'cli/approved-words: keys are snake_case in everything that --json prints, in every command',
        ],
      },
      {
        promise: 'The settings, command lines and queries of the documents are those of the code',
        tests: [
          'config: shows every setting once, in the order of the table',
          'readme: what it shows of the demo is what the demo answers',
          'docs: every command line of README and the documents is one that the program takes',
          'readme-queries: every query of docs/sql.md is checked',
        ],
      },
      {
        promise: 'Each task takes three commands at most',
        tests: [
          'tasks: twelve tasks are written down, four for each of three people, none of more than three commands',
        ],
      },
      {
        promise:
          'Every operation and event of the registry is in the sandbox, in the client and in the mirror or the command line',
        tests: [
          'sandbox/coverage: each operation and each event has three columns: sandbox, client, mirror and command line',
          'sandbox/coverage: each test that coverage.md names exists, and no cell is empty',
        ],
      },
      {
        promise: 'The packed client works alone',
        tests: [
          'registry/package: packed and installed in an empty folder, the programs of docs/client-and-sandbox.md type-check and run',
          'registry/package: every export has its code and its types',
        ],
      },
      {
        promise:
          'Without settings the program makes a demo; with some but not all it names each that is missing',
        tests: [
          'app/up: with no settings at all it makes a demo, goes on from there, and leaves no process behind',
          'app/up: it names each that is missing, exit 2, and makes no demo',
        ],
      },
      {
        promise: 'The receiver loads neither the worker nor the mirror nor what signs',
        tests: [
          'app/bundle: what the receiver loads is what it may load: no worker, no mirror, nothing that signs',
        ],
      },
    ],
  },
  {
    title: 'Random histories',
    says: 'Each run of the tests plays these laws with a few fixed seeds, whose number stands behind each. The commands play as many others as you like.',
    promises: [
      {
        promise: 'The mirror ends up equal to the registry (10 seeds, 10 others on PostgreSQL)',
        tests: [
          'flows/history: whatever happens, the mirror at rest equals the registry, and its history stays true and tells nothing before it was said (seed %i)',
        ],
        commands: ['torture -- mirror'],
      },
      {
        promise: 'Lists that change while they are read lose no live row (2 seeds)',
        tests: [
          'flows/moving-lists: T37 rows come and go at random between the pages: no live row is closed, and a quiet read is exact (seed %i)',
        ],
        commands: ['torture -- chance'],
      },
      {
        promise: '`behind` agrees with the inbox (2 seeds, 2 others on PostgreSQL)',
        tests: [
          'flows/behind: whatever is announced, read and watched, behind says what the inbox says (seed %i)',
        ],
        commands: ['torture -- chance'],
      },
      {
        promise: 'History is what was read (8 seeds, 2 on PostgreSQL)',
        tests: [
          'contract/mirror-history: after each whole read the mirror equals the registry, and its history what it was then unless the clock went back beyond it (seed %i)',
        ],
        commands: ['torture -- chance'],
      },
      {
        promise: 'Both engines store the same (2 seeds each)',
        tests: [
          'contract/mirror-same: after the same changes both engines hold the same, rows, history and books (seed %i)',
          'contract/inbox-same: what comes by chance stands in the tables of both engines alike (seed %i)',
        ],
        commands: ['torture -- chance'],
      },
      {
        promise: 'Changes are told once, in order (2, 2 and 1 seeds)',
        tests: [
          'contract/mirror-changes: whoever keeps the last number finds every change once, in order, those of rows that are gone too (seed %i)',
          'contract/mirror-changes-view: the view shows every change once, with what stood there before (seed %i)',
          'cli/changes: a follower that is killed at random has each change once (seed %i)',
        ],
        commands: ['torture -- chance'],
      },
      {
        promise: 'Credits that move add up (1 seed of 40 credits)',
        tests: [
          'contract/mirror-balance: credits that are traded, held and retired at random tie, whenever somebody looks',
        ],
        commands: ['torture -- changes'],
        reached: ['10,000 credits, every balance ties', '4666351, 2026-11-22'],
      },
      {
        promise: 'The sandbox creates no credit out of nothing and loses none (60 seeds)',
        tests: [
          'sandbox/conservation: Credits are conserved over ${SEQUENCES} random sequences of operations, ten at a time',
        ],
        commands: ['torture -- credits'],
      },
    ],
  },
  {
    title: 'Fast and lean',
    says: 'Ratios are against a floor that the same run measures. No test asserts a time.',
    promises: [
      {
        promise:
          'The receiver is faster than one that stores deliveries one by one, and nearly as fast as one that stores nothing',
        tests: [],
        commands: ['bench -- receive'],
      },
      {
        promise: 'A first sync costs little more than reading and inserting',
        tests: [],
        commands: ['bench -- sync'],
      },
      {
        promise: "Nothing blocks the worker's event loop for long",
        tests: [
          'registry/package: what fetch is made of is loaded with the client, so that the first call of a worker does not stop it',
        ],
        commands: ['bench -- sync'],
      },
      {
        promise: 'Memory does not grow with the data',
        tests: ['cli/reading: rows stream: a hundred thousand of them pass through without being gathered'],
        commands: ['bench -- sync'],
      },
      {
        promise: 'The client is nearly as fast as a bare loop of calls',
        tests: [],
        commands: ['bench -- client'],
      },
      {
        promise: 'Questions are quick at a million rows too',
        tests: [],
        commands: ['bench -- query'],
      },
      {
        promise: '`changes` of a day is quick at a million rows too',
        tests: [],
        commands: ['bench -- changes'],
      },
      {
        promise: 'A page of the console is quick at a million rows too',
        tests: [
          'console/later: what takes longer follows a page that is there already',
          'browser/console: the first page is small as a browser receives it, its style and script included',
        ],
        commands: ['bench -- console'],
      },
      {
        promise:
          'Now and `status` are quick at 1,000 organizations, and always say rightly how many organizations are known',
        tests: [
          'console/now: of many organizations 20 are shown, trouble first and then the largest, how many more there are and the way to them',
          'cli/status: of many organizations 20 are shown, trouble first and then the largest, how many more there are and what shows them',
          'browser/console: a page that follows fetches at most once a second, and misses nothing that it heard meanwhile',
          'console/packed: %s is packed for who takes it so, and for nobody else',
        ],
        commands: ['bench -- fleet'],
        reached: [
          "with CALLS=100: right at five instants of the first read; all of it in 12,072 calls and 121 s, a quiet round in 3,012 and 30 s; the worker's peak 267 MB; 10,679 bytes the first page as it is received, 118 ms to its end; `status` 183 ms with the start of Node",
          '08e8c8d, 2026-11-23, 2 cores of an AMD EPYC',
        ],
      },
      {
        promise: 'The sandbox stays quick when its registry is large',
        tests: [],
        commands: ['bench -- sandbox'],
      },
    ],
  },
];
