import { html, type Html } from '../components/html.js';
import { ago } from '../components/words.js';

/** What to do where nothing has come yet, and a light that tells when something does. */
export function invitation(webhookUrl: string | null, newestDeliveryAt: string | null, now: number): Html {
  return html`<h2>Two steps, at the registry</h2><ol>
<li>Set the app's webhook URL to ${webhookUrl === null ? 'the address of the receiver' : html`<code>${webhookUrl}</code>, with the host name by which the internet reaches this machine`}.</li>
<li>Install the app on an organization. The first webhook leads to the first read.</li></ol>
<p class="light">${
    newestDeliveryAt === null
      ? html`<span class="state never_read">○ No delivery has come yet.</span>`
      : html`<span class="state good">● A delivery came ${ago(newestDeliveryAt, now)}.</span> Its organization appears here when it has been read.`
  }</p>`;
}
