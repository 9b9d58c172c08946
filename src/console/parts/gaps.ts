import type { Gap } from '../../query/past/as-of.js';
import { andMore, MOST_SHOWN } from '../../text/and-more.js';
import { html, type Html } from './html.js';

/** What a page as of an instant cannot know, in words. */
export function gapsOf(resource: string, gaps: readonly Gap[]): Html | false {
  const what = resource.replaceAll('_', ' ');
  const told = gaps.flatMap(({ organizationId, name, unknown, reading }) => [
    unknown !== null && html`<li>${name ?? organizationId}, ${what}: ${outside(unknown)}</li>`,
    reading !== null &&
      html`<li>${name ?? organizationId}, ${what}: a read was under way from ${reading}; what it had not told by then is not shown.</li>`,
  ]);
  const said = told.filter(each => each !== false);
  const more = andMore(said.length);
  return (
    said.length > 0 &&
    html`<h2>What cannot be known</h2><ul class="gaps">${said.slice(0, MOST_SHOWN)}${more !== null && html`<li>${more}</li>`}</ul>`
  );
}

function outside({ since, until }: NonNullable<Gap['unknown']>): string {
  if (until !== null) return `not known after ${until}: nobody can read it any more.`;
  return since === null
    ? 'was never read completely.'
    : `not known before ${since}, the end of the first complete read.`;
}
