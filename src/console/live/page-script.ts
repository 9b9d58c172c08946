/**
 * The script of all pages. It fetches the page again after a change, at most once a second, and every 20 seconds because
 * ages grow. It replaces the elements marked \`data-live\`, except those that are selected, focused or opened.
 * A hidden page is not fetched.
 */
export const SCRIPT = `'use strict';
(() => {
  const staleNotice = document.getElementById('link');
  const changes = new EventSource('/live');
  let isUpdateDue = false;
  let isTooEarly = false;
  let fetchedPage = null;

  const OPEN = 'popover' in HTMLElement.prototype ? 'details[open], :popover-open' : 'details[open]';
  const isInUse = part =>
    part.contains(document.activeElement) ||
    part.querySelector(OPEN) !== null ||
    (!getSelection().isCollapsed && getSelection().containsNode(part, true));

  const replaceChangedParts = () => {
    for (const part of document.querySelectorAll('[data-live]')) {
      const next = fetchedPage && fetchedPage.getElementById(part.id);
      if (!next || next.outerHTML === part.outerHTML || isInUse(part)) continue;
      part.replaceWith(document.adoptNode(next));
    }
    showCertificate();
  };

  // Shows the certificate of the page below its link, if the browser has a viewer for PDF files.
  const showCertificate = () => {
    const preview = document.getElementById('preview');
    const link = document.getElementById('pdf');
    if (!preview || !navigator.pdfViewerEnabled || preview.firstChild?.data === link?.href) return;
    preview.replaceChildren();
    if (!link) return;
    const frame = document.createElement('object');
    frame.type = 'application/pdf';
    frame.data = link.href;
    frame.ariaLabel = 'The certificate';
    preview.append(frame);
  };
  showCertificate();

  // A page as of an instant does not change.
  const isAsOfPage = new URLSearchParams(location.search).has('as-of');

  const update = async () => {
    if (isAsOfPage) { staleNotice.hidden = changes.readyState === EventSource.OPEN; return; }
    if (!isUpdateDue || isTooEarly || document.hidden) return;
    isTooEarly = true;
    isUpdateDue = false;
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' }, signal: AbortSignal.timeout(15000) });
      const text = await answer.text();
      if (answer.ok) fetchedPage = new DOMParser().parseFromString(text, 'text/html');
      const isComplete = answer.ok ? fetchedPage.querySelector('.fault') === null : answer.status === 404;
      staleNotice.hidden = isComplete && changes.readyState === EventSource.OPEN;
    } catch {
      isUpdateDue = true;
      staleNotice.hidden = false;
    }
    replaceChangedParts();
    setTimeout(() => { isTooEarly = false; update(); }, 1000);
  };

  changes.addEventListener('changed', () => { isUpdateDue = true; update(); });
  changes.addEventListener('open', () => { staleNotice.hidden = true; isUpdateDue = true; update(); });
  changes.addEventListener('error', () => { staleNotice.hidden = false; });
  document.addEventListener('visibilitychange', update);
  setInterval(() => { replaceChangedParts(); update(); }, 2000);
  setInterval(() => { isUpdateDue = true; }, 20000);

  document.addEventListener('click', event => {
    const button = event.target instanceof Element && event.target.closest('.copy');
    if (!button || !navigator.clipboard) return;
    navigator.clipboard.writeText(button.value).then(() => button.classList.add('copied'), () => {});
    setTimeout(() => button.classList.remove('copied'), 1500);
  });

  // A click on a row follows its first link or presses its button: in a new tab if the link itself would open one.
  const clickRow = event => {
    const row = event.target instanceof Element && event.target.closest('tr.link');
    if (!row || !getSelection().isCollapsed || event.target.closest('a, button, [popover]')) return;
    const target = row.querySelector('td:first-child > a, .ids');
    if (target === null) return;
    const { shiftKey, metaKey } = event;
    const ctrlKey = event.ctrlKey || event.button === 1;
    target.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, view: window, ctrlKey, shiftKey, metaKey }));
  };
  document.addEventListener('click', clickRow);
  document.addEventListener('auxclick', event => { if (event.button === 1) clickRow(event); });

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
