import { type AnswerGroup, readAnswers } from '../../../query/reads/answers.js';
import { type Finding, ok } from '../../../engines/contract/finding.js';
import { reading, type Place } from '../../place/place.js';
import { stretch } from '../../../text/stretch.js';

/** What the registry really answered the last time that each resource was asked for. */
export async function checkAnswers(place: Place, now: number): Promise<Finding[]> {
  return (await readGroups(place)).map(group => describeGroup(group, now));
}

/** Where there is no mirror to open, other checks say so. */
async function readGroups(place: Place): Promise<AnswerGroup[]> {
  try {
    return await reading(place, readAnswers);
  } catch {
    return [];
  }
}

function describeGroup(group: AnswerGroup, now: number): Finding {
  const { resource, status, form, organizations, answeredAt, example, notOffered } = group;
  const age = stretch((now - Date.parse(answeredAt)) / 1000);
  const told = `${resource}: ${status}, ${WORDS[form] ?? form}, ${age} ago, for`;
  const whose = organizations === 1 ? example : `${organizations} organizations`;
  if (status < 300 && form !== 'unusable' && notOffered === 0) return ok('answers', `${told} ${whose}`);
  const found = `${told} ${whose}${organizations === 1 ? '' : `, ${example} among them`}`;
  const todo = notOffered > 0 ? NOT_OFFERED : 'See "carbon-mirror status" for what came of it.';
  return { check: 'answers', state: 'warn', found, todo };
}

const WORDS: Readonly<Record<string, string>> = {
  list: 'a list',
  pages: 'a list in pages',
  object: 'one object',
  none: 'no rows',
  unusable: 'something that cannot be read',
};

const NOT_OFFERED =
  'The registry does not offer it in a form that is known; it is looked at daily, and at once by "carbon-mirror sync". ' +
  'What came: carbon-mirror query "SELECT * FROM resource_states WHERE not_offered_at IS NOT NULL".';
