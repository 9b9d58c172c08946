/**
 * Fetches the page again once something has changed, and now and then, since ages grow; and swaps what is marked \`data-live\`. It leaves alone what a person
 * is at: hidden, selected, focused or opened.
 */
export const SCRIPT = `'use strict';
(() => {
  const gone = document.getElementById('link');
  const changes = new EventSource('/live');
  let due = false;
  let asking = false;

  const isBusy = part =>
    part.contains(document.activeElement) ||
    part.querySelector('details[open]') !== null ||
    (!getSelection().isCollapsed && getSelection().containsNode(part, true));

  const swap = fresh => {
    let left = false;
    for (const part of document.querySelectorAll('[data-live]')) {
      const next = fresh.getElementById(part.id);
      if (next === null || next.outerHTML === part.outerHTML) continue;
      if (isBusy(part)) left = true;
      else part.replaceWith(document.adoptNode(next));
    }
    return left;
  };

  // What had been told by an instant is told by no later one.
  const isOfThen = new URLSearchParams(location.search).has('as-of');

  const look = async () => {
    if (isOfThen) { gone.hidden = changes.readyState === EventSource.OPEN; return; }
    if (!due || asking || document.hidden) return;
    asking = true;
    due = false;
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
      if (answer.ok) due = swap(fresh) || due;
      gone.hidden = changes.readyState === EventSource.OPEN;
    } catch {
      due = true;
      gone.hidden = false;
    }
    asking = false;
  };

  changes.addEventListener('changed', () => { due = true; look(); });
  changes.addEventListener('open', () => { gone.hidden = true; due = true; look(); });
  changes.addEventListener('error', () => { gone.hidden = false; });
  document.addEventListener('visibilitychange', look);
  setInterval(look, 2000);
  setInterval(() => { due = true; }, 20000);

  document.addEventListener('keydown', event => {
    if (!['/', '?'].includes(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest('input, select, textarea')) return;
    if (event.key === '?') { location.assign('/help'); return; }
    const search = document.getElementById('search');
    if (search === null) return;
    event.preventDefault();
    search.focus();
  });
})();
`;
