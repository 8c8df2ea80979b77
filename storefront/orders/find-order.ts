import { PlatformError } from '../api/platform-client.ts'
import { cleanText } from '../http/forms.ts'
import { type HttpResponse, redirect } from '../http/response.ts'
import type { RequestContext } from '../request-context.ts'
import { openedCookie } from '../shopper/shopper-cookies.ts'
import { orderListPage, orderNotHere } from './order-pages.ts'

/** Finds an order again without the browser that bought: by its number, its e-mail address and a mailed link. */

const EMAIL_LENGTH_MAX = 254

export async function findOrderAgain(
  context: RequestContext,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const { api, site, origin, ip } = context
  const { texts } = site.locale
  const typed = {
    number: cleanText(form.get('order_number'), 20),
    email: cleanText(form.get('email'), EMAIL_LENGTH_MAX),
  }
  const number = Number(/^#?(\d{1,15})$/.exec(typed.number)?.[1] ?? 0)
  if (number < 1) return orderListPage(context, { ...typed, error: texts.checkOrderNumber })
  const return_url = `${origin}/orders/link`
  try {
    await api.mailOrderLink(site, { order_number: number, email: typed.email, return_url, ip })
  } catch (error) {
    const refusal = refusalOf(context, error)
    if (refusal === null) throw error
    return orderListPage(context, { ...typed, error: refusal })
  }
  return redirect('/orders?sent=1')
}

/** Returns the text that explains a refusal; null for any other error, such as an outage. */
function refusalOf({ site }: RequestContext, error: unknown): string | null {
  const { texts } = site.locale
  if (!(error instanceof PlatformError)) return null
  if (error.code === 'rate_limited') return texts.tooManyLinks
  return error.code === 'invalid_body' ? texts.checkEmail : null
}

/** Opens the order of a mailed link in this browser, and redirects to an address without the token. */
export async function openOrderLink(context: RequestContext, token: string): Promise<HttpResponse> {
  const found = await context.api.openOrderLink(context.site, token)
  if (found === null) return orderNotHere(context)
  const { order_id: id, customer_ref: customerRef } = found
  return redirect(`/orders/${id}`, [openedCookie(context, { id, customerRef })])
}
