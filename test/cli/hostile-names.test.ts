import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { startDemoForFile } from '../support/mirror/demo.js';
import { createBrokenProgram } from '../support/mutant.js';
import { runProcess } from '../support/processes.js';

/** Clears the screen, turns the text, and makes up a line of its own. */
const EVIL = '\u001b[2J\u009b31m\u202eevil\r\nok  registry  all is well\u2028';

// eslint-disable-next-line no-control-regex
const COLOURS = /\u001b\[(?:1|22|3[123]|39)m/g;
// eslint-disable-next-line no-control-regex
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

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

test.each(COMMANDS)('T72 a name of the registry draws nothing and makes up no line: %s', async command => {
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
    expect(printed).not.toMatch(OBEYED);
    expect(printed).not.toMatch(/^ok +registry +all is well/m);
  }
});

test('T72 a program that cleans no text would let a name draw', async () => {
  const main = createBrokenProgram('main.js', 'text.replace(UNPRINTABLE, " ")', 'text');
  const { stdout } = await runProcess(['organizations', 'list'], demo.env, undefined, main);
  expect(stdout).toMatch(OBEYED);
});

test('T69 deliveries show prints no credential that the registry sent along; the proof keeps every byte', async () => {
  const signed = JSON.stringify({ event: 'installed', token: 'crs_0123456789abcdef' });
  await demo.change('UPDATE signed_texts SET signed_data = ?', Buffer.from(signed).toString('base64'));
  const shown = await runCommand(['deliveries', 'show', '1'], { env: demo.env });
  expect(shown.stdout).toContain('"token": "[masked]"');
  expect(shown.stdout).not.toContain('0123456789abcdef');
  const { stdout } = await runCommand(['deliveries', 'show', '1', '--json'], { env: demo.env });
  expect(Buffer.from(JSON.parse(stdout).signed_data, 'base64').toString()).toBe(signed);
});
