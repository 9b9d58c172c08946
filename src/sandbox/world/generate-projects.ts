import type { OrganizationRecord, ProjectRecord } from '../store/records.js';
import { toInstant } from '../store/clock.js';
import type { CompleteWorldSpec } from './world-size.js';
import { createRandom, type Random } from './seeded-random.js';
import { COUNTRIES, type Country, PROJECT_KINDS, type ProjectKind } from './name-lists.js';

const FIRST_NUMBER = 101;
const REGISTERED = Date.UTC(2022, 5, 1);
const HOUR_MS = 3_600_000;
/** One project in this many is not public. */
const HIDDEN_EVERY = 8;

/** A generated project, with what its credits are generated from. */
export interface WorldProject {
  readonly row: ProjectRecord;
  readonly country: Country;
  readonly kind: ProjectKind;
  /** The token address of all credits of the project. */
  readonly contract: string;
}

/** Generates all projects. Assigns each project to an organization that develops projects. */
export function generateProjects(
  spec: CompleteWorldSpec,
  organizations: readonly OrganizationRecord[],
): WorldProject[] {
  const developers = organizations.filter(({ type }) => type.startsWith('project'));
  return Array.from({ length: spec.projects }, (_, index) => {
    const developer = developers[index % Math.max(developers.length, 1)] ?? organizations[0];
    return generateProject(spec.seed, index, developer?.id ?? null);
  });
}

/** Generates the project with this index. `proponentId` is the organization that develops the project; null if there is none. */
function generateProject(seed: number, projectIndex: number, proponentId: string | null): WorldProject {
  const random = createRandom(seed, 'project', projectIndex);
  const country = COUNTRIES[projectIndex % COUNTRIES.length] ?? COUNTRIES[0];
  const kind = PROJECT_KINDS[projectIndex % PROJECT_KINDS.length] ?? PROJECT_KINDS[0];
  const place = random.pick(country.places);
  const phase = Math.floor(projectIndex / (COUNTRIES.length * PROJECT_KINDS.length));
  const createdAt = toInstant(REGISTERED + projectIndex * HOUR_MS);
  const startYear = 2010 + random.below(5);
  const row: ProjectRecord = {
    id: random.uuid(),
    num: String(FIRST_NUMBER + projectIndex),
    fullName: `${place} ${kind.title}${phase === 0 ? '' : `, phase ${phase + 1}`}`,
    shortDescription: kind.summary,
    description: `${kind.summary} The project works around ${place} in ${country.name} since ${startYear}.`,
    status: 'validated',
    isPublic: projectIndex % HIDDEN_EVERY !== HIDDEN_EVERY - 1,
    proponentId,
    countryCode: country.alpha2,
    city: country.city,
    startDate: `${startYear}-04-01`,
    creditingPeriodStartDate: `${startYear + 1}-01-01`,
    details: createProjectDetails(kind, random),
    createdAt,
    updatedAt: createdAt,
  };
  return { row, country, kind, contract: `0x${random.hex(40)}` };
}

/** Generates the details of a project, such as sector, methodology and location. */
function createProjectDetails(kind: ProjectKind, random: Random): object {
  return {
    thumbnail: null,
    sector: { id: String(kind.sector), title: kind.sectorTitle },
    methodology: { id: kind.methodology, title: `${kind.title}, consolidated` },
    type: kind.removal
      ? { id: 'removal', title: 'Removal', description: 'Takes carbon dioxide out of the air.' }
      : { id: 'avoidance', title: 'Avoidance', description: 'Keeps carbon dioxide from being set free.' },
    otherBenefits: [
      {
        id: 8,
        title: 'Decent work',
        description: 'Local people are hired and trained first.',
        checked: true,
      },
    ],
    location: { lat: pickDegrees(random, 60), lng: pickDegrees(random, 170) },
  };
}

/** Picks a random latitude or longitude from `-limit` to `limit`. */
function pickDegrees(random: Random, limit: number): number {
  return Math.round((random.next() * 2 - 1) * limit * 10_000) / 10_000;
}
