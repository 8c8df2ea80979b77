import { PlatformError } from '../api/platform-client.ts'
import { cleanText } from '../http/forms.ts'
import { type HttpResponse, redirect } from '../http/response.ts'
import { type Html, html } from '../layout/html.ts'
import { pageTitle, renderPage } from '../layout/page.ts'
import type { PageContext, RequestContext } from '../request-context.ts'

/** Asks for the newsletter of the store. The platform mails a link that confirms the address. */

const EMAIL_LENGTH_MAX = 254

interface NewsletterForm {
  email: string
  label: string
}

/** The field for the address, with its button. */
export const newsletterForm = ({ site }: PageContext, { email, label }: NewsletterForm): Html =>
  html`<form class="newsletter" method="post" action="/newsletter"><label class="hidden" for="newsletter-email">${site.locale.texts.email}</label><input id="newsletter-email" name="email" type="email" autocomplete="email" required maxlength="${EMAIL_LENGTH_MAX}" placeholder="${site.locale.texts.email}" value="${email}"><button class="button">${label}</button></form>`

/** Shows the outcome of a request, and the form if it has to be sent again. */
export async function newsletterPage(
  context: RequestContext,
  { email = '', error = null }: { email?: string; error?: string | null } = {},
): Promise<HttpResponse> {
  const { texts } = context.site.locale
  const isSent = context.url.searchParams.has('sent') && error === null
  const main = html`<div class="wrap narrow list"><header class="list-head"><h1>${texts.newsletter}</h1></header>${
    error !== null && html`<p class="error error-box" role="alert">${error}</p>`
  }${
    isSent
      ? html`<p class="success success-box" role="status">${texts.newsletterSent}</p><p><a class="more" href="/products">${texts.backToStore}</a></p>`
      : newsletterForm(context, { email, label: texts.newsletterJoin })
  }</div>`
  const page = await renderPage(context, {
    title: pageTitle(context, texts.newsletter),
    canonical: '/newsletter',
    main,
  })
  return error === null ? page : { ...page, status: 422 }
}

export async function askForNewsletter(
  context: RequestContext,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const { api, site, origin, ip } = context
  const { texts } = site.locale
  const email = cleanText(form.get('email'), EMAIL_LENGTH_MAX)
  try {
    const form_url = `${origin}/newsletter`
    await api.askForNewsletter(site, { email, source: 'storefront', form_url, ip })
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    if (error.code === 'invalid_body') {
      return newsletterPage(context, { email, error: texts.checkEmail })
    }
    if (error.code !== 'rate_limited') throw error
    return newsletterPage(context, { email, error: texts.tryLater })
  }
  return redirect('/newsletter?sent=1')
}
