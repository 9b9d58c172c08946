/**
 * The script of all pages. It fetches the page again after a change, and every 20 seconds because ages grow, at most once a
 * second, and replaces the elements marked \`data-live\`. It leaves alone what is hidden, selected, focused or opened.
 */
export const SCRIPT = `'use strict';
(() => {
  const gone = document.getElementById('link');
  const changes = new EventSource('/live');
  let due = false;
  let isTooEarly = false;
  let fresh = null;

  const isBusy = part =>
    part.contains(document.activeElement) ||
    part.querySelector('details[open]') !== null ||
    (!getSelection().isCollapsed && getSelection().containsNode(part, true));

  const swap = () => {
    for (const part of document.querySelectorAll('[data-live]')) {
      const next = fresh && fresh.getElementById(part.id);
      if (!next || next.outerHTML === part.outerHTML || isBusy(part)) continue;
      part.replaceWith(document.adoptNode(next));
    }
  };

  // A page as of an instant does not change.
  const isOfThen = new URLSearchParams(location.search).has('as-of');

  const look = async () => {
    if (isOfThen) { gone.hidden = changes.readyState === EventSource.OPEN; return; }
    if (!due || isTooEarly || document.hidden) return;
    isTooEarly = true;
    due = false;
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' }, signal: AbortSignal.timeout(15000) });
      const text = await answer.text();
      if (answer.ok) fresh = new DOMParser().parseFromString(text, 'text/html');
      const isWhole = answer.ok ? fresh.querySelector('.fault') === null : answer.status === 404;
      gone.hidden = isWhole && changes.readyState === EventSource.OPEN;
    } catch {
      due = true;
      gone.hidden = false;
    }
    swap();
    setTimeout(() => { isTooEarly = false; look(); }, 1000);
  };

  changes.addEventListener('changed', () => { due = true; look(); });
  changes.addEventListener('open', () => { gone.hidden = true; due = true; look(); });
  changes.addEventListener('error', () => { gone.hidden = false; });
  document.addEventListener('visibilitychange', look);
  setInterval(() => { swap(); look(); }, 2000);
  setInterval(() => { due = true; }, 20000);

  document.addEventListener('click', event => {
    const id = event.target instanceof Element && event.target.closest('.id');
    if (!id || id.closest('a') || !navigator.clipboard || !getSelection().isCollapsed) return;
    navigator.clipboard.writeText(id.title || id.textContent).then(() => id.classList.add('copied'), () => {});
    setTimeout(() => id.classList.remove('copied'), 1500);
  });

  document.addEventListener('keydown', event => {
    if (event.key === 'Enter' && event.ctrlKey && event.target.matches('.ask textarea')) { event.target.form.requestSubmit(); return; }
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
