import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { startDemoForFile } from '../support/mirror/demo.js';
import { createBrokenProgram } from '../support/mutant.js';
import { runProcess } from '../support/processes.js';

/** A name that clears the screen, reverses text and forges a line of output. */
const EVIL = '\u001b[2J\u009b31m\u202eevil\r\nok  registry  all is well\u2028';

// eslint-disable-next-line no-control-regex
const COLOURS = /\u001b\[(?:1|22|3[123]|39)m/g;
// eslint-disable-next-line no-control-regex
const CONTROL_CHARACTERS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

const demo = await startDemoForFile();
const retirement = String((await demo.rows('SELECT id FROM retirements LIMIT 1'))[0]?.['id']);
await demo.change('UPDATE organizations SET full_name = ?', EVIL);
await demo.change('UPDATE projects SET full_name = ?', EVIL);
await demo.change(
  'UPDATE retirements SET beneficiary = ?, document = ?',
  EVIL,
  JSON.stringify({ comment: EVIL }),
);
await demo.change("UPDATE resource_states SET error = ?, outcome = 'failed'", EVIL);

const COMMANDS = [
  'status',
  'available',
  'available --csv',
  'doctor',
  'organizations list',
  'projects list',
  'retirements list',
  'retirements list --csv',
  'retirements show RETIREMENT',
  'as-of 2020-01-01 --organization ORGANIZATION',
  'certificates list',
  'purge --organization ORGANIZATION --confirm nobody',
];

test.each(COMMANDS)(
  'T72 a name from the registry cannot control the terminal or add a line: %s',
  async command => {
    const argv = command
      .replace('RETIREMENT', retirement)
      .replace('ORGANIZATION', demo.organizationIds[0] ?? '')
      .split(' ');
    const hasJson = !command.includes('--csv') && !command.startsWith('purge');
    for (const options of hasJson ? [[], ['--json']] : [[]]) {
      const { stdout, stderr } = await runCommand([...argv, ...options], {
        env: demo.env,
        terminal: true,
        input: 'n\n',
      });
      const printed = (stdout + stderr).replaceAll(COLOURS, '');
      expect(printed).not.toBe('');
      expect(printed).not.toMatch(CONTROL_CHARACTERS);
      expect(printed).not.toMatch(/^ok +registry +all is well/m);
    }
  },
);

test('T72 without text cleaning a name would control the terminal', async () => {
  const main = createBrokenProgram('main.js', 'text.replace(UNPRINTABLE, " ")', 'text');
  const { stdout } = await runProcess(['organizations', 'list'], demo.env, undefined, main);
  expect(stdout).toMatch(CONTROL_CHARACTERS);
});

test('T69 deliveries show masks credentials that the registry sent, and --json keeps every signed byte', async () => {
  const signed = JSON.stringify({ event: 'installed', token: 'crs_0123456789abcdef' });
  await demo.change('UPDATE signed_texts SET signed_data = ?', Buffer.from(signed).toString('base64'));
  const outcome = await runCommand(['deliveries', 'show', '1'], { env: demo.env });
  expect(outcome.stdout).toContain('"token": "[masked]"');
  expect(outcome.stdout).not.toContain('0123456789abcdef');
  const { stdout } = await runCommand(['deliveries', 'show', '1', '--json'], { env: demo.env });
  expect(Buffer.from(JSON.parse(stdout).signed_data, 'base64').toString()).toBe(signed);
});
