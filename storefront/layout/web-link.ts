import { type Html, html } from './html.ts'

/**
 * A link to another site. A merchant has written the address, so it becomes a link only if it leads to a web page, and
 * that page does not learn where its reader comes from.
 */
export const webLink = (text: string, url: string | null): Html | null =>
  url !== null && /^https?:\/\//i.test(url)
    ? html`<p><a class="more" href="${url}" rel="noreferrer">${text}</a></p>`
    : null
