/** Logged once however many connections were lost at once: a server that starts again ends all of them. */
export const LOST = 'the connection to the database was lost, and is made anew';

export const WAITS = 'the database is not ready: it is waited for a minute';
