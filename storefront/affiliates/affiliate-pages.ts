import type { AffiliateApplication } from '../api/affiliate-api.ts'
import { PlatformError } from '../api/platform-client.ts'
import { cleanText } from '../http/forms.ts'
import { type HttpResponse, redirect, withCookies } from '../http/response.ts'
import { notFoundPage, pageTitle, renderPage } from '../layout/page.ts'
import type { RequestContext } from '../request-context.ts'
import { type Applied, affiliateMain, applyMain, sentMain } from './affiliate-view.ts'
import { ensureDevice } from './referral-cookies.ts'

/** The pages of affiliates: where they apply, and where they see what they have earned. */

const LENGTHS = { name: 200, email: 254, website: 2_000, message: 2_000 } as const

const NOTHING: Applied = { name: '', email: '', website: '', message: '' }

/** Shows the application form, where the store takes applications. */
export async function applyPage(
  context: RequestContext,
  { entered = NOTHING, error = null }: { entered?: Applied; error?: string | null } = {},
): Promise<HttpResponse> {
  const { api, site, url } = context
  const words = site.locale.texts.affiliates
  const isSent = url.searchParams.has('sent') && error === null
  const program = await api.readProgram(site)
  if (!program.applications_open && !isSent) return notFoundPage(context, words.closed)
  const page = await renderPage(context, {
    title: pageTitle(context, words.title),
    canonical: '/affiliates',
    main: isSent ? sentMain(context) : applyMain(context, { program, entered, error }),
  })
  return error === null ? page : { ...page, status: 422 }
}

export async function applyAsAffiliate(
  context: RequestContext,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const { api, site, ip } = context
  const read = (name: keyof typeof LENGTHS) => cleanText(form.get(name), LENGTHS[name])
  const entered: Applied = {
    name: read('name'),
    email: read('email'),
    website: read('website'),
    message: read('message'),
  }
  const { device, cookies } = ensureDevice(context)
  try {
    await api.applyAsAffiliate(site, requestOf(entered, ip, device))
  } catch (error) {
    const text = refusalText(context, error)
    if (text === null) throw error
    return applyPage(context, { entered, error: text })
  }
  return redirect('/affiliates?sent=1', cookies)
}

const requestOf = (
  { name, email, website, message }: Applied,
  ip: string | null,
  device_ref: string,
): AffiliateApplication => ({
  name,
  email,
  ip,
  device_ref,
  ...(website !== '' && { website }),
  ...(message !== '' && { message }),
})

/** Returns the text that explains a refused form; null for any other error. */
function refusalText({ site }: RequestContext, error: unknown): string | null {
  const { texts } = site.locale
  if (!(error instanceof PlatformError)) return null
  if (error.code === 'invalid_body') return texts.affiliates.checkForm
  if (error.code === 'rate_limited') return texts.tryLater
  const isClosed = ['applications_closed', 'feature_not_enabled', 'operator_restricted']
  return isClosed.includes(error.code) ? texts.affiliates.closed : null
}

/** The headers of an affiliate's page. Its link alone opens it: no browser keeps it, no search engine finds it. */
const PRIVATE = {
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
  'referrer-policy': 'no-referrer',
}

/** Shows the page of an affiliate by its signed link. From then on this browser is known as the affiliate's. */
export async function affiliatePage(context: RequestContext, token: string): Promise<HttpResponse> {
  const { api, site } = context
  const words = site.locale.texts.affiliates
  const { device, cookies } = ensureDevice(context)
  const found = await api.openAffiliatePage(site, { token, device_ref: device })
  if (found === null) return notFoundPage(context, words.ended)
  const title = pageTitle(context, words.yours)
  const page = await renderPage(context, { title, main: affiliateMain(context, found) })
  return withCookies({ ...page, headers: PRIVATE }, cookies)
}
