/** Logged once however many connections were lost at once: a server that starts again ends all of them. */
export const LOST = 'the connection to the database was lost, and is made anew';
