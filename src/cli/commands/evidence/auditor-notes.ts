/** Instructions for whoever verifies an evidence folder. `evidence init` and `evidence export` print them. */
export const AUDITOR_NOTES: readonly string[] = [
  'For the verifier:',
  '1. Get check.html (or check.mjs) from the carbon-mirror project, and the key from us in another way than the folders. ' +
    'docs/check-evidence.md states the SHA-256 of both checkers.',
  '2. Keep every checkpoint that you receive: it is your only proof of time.',
  '3. Open check.html in Chrome or Edge 137, Firefox 129, Safari 17 or newer, in a private window. It needs no network and cannot use it.',
  '4. Choose the folder, paste the key and the older checkpoint that we used with --since, from your own copy, and press Check. ' +
    'Thousands of certificates take half a minute.',
  '5. "Verified" means: these rows are in the log that this key signed, your older checkpoint is its beginning, ' +
    'and no sealed row of the scope is missing.',
  '6. Any other verdict, or none, means: do not rely on the folder.',
  '7. Read rows and certificates only in the checker. It checks no other file of the folder, whatever that file says.',
  '8. Compare your reports with the rows dated by the registry. The rows first observed in a period have another sum.',
  '9. Check when each list was last read completely: what the registry listed later is not in the folder.',
  '10. Not proven: that the registry sent these records, that these are all organizations, ' +
    'and, without an older checkpoint, when anything was sealed.',
];
