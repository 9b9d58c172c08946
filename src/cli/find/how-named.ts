/** How an organization, an installation or an app may be named. */
export const HOW_NAMED = 'its id, its name or the beginning of either';
export const OF_ORGANIZATION = `of one organization only: ${HOW_NAMED}`;
