import type { OwnSubscription } from '../api/subscription-api.ts'
import type { Subscription } from '../api/types.ts'
import { findHostedFields, hostedHeaders } from '../checkout/hosted-fields.ts'
import { type HttpResponse, redirect } from '../http/response.ts'
import type { Html } from '../layout/html.ts'
import { notFoundPage, pageTitle, renderPage } from '../layout/page.ts'
import type { PageContext, RequestContext } from '../request-context.ts'
import { openedCookie } from '../shopper/shopper-cookies.ts'
import { findText } from '../translations/error-messages.ts'
import { addressMain, cardMain, type FormView } from './subscription-forms.ts'
import { subscriptionListMain, subscriptionMain } from './subscription-view.ts'

/** The pages on which a shopper sees and changes subscriptions. */

/** The pages have a name and an address. A browser that several people use must not keep them. */
const NOT_KEPT = { 'cache-control': 'no-store' }

/** A subscription of this shopper, and the customer that it is known by. */
export interface Found {
  subscription: Subscription
  own: OwnSubscription
}

/** Finds a subscription. Returns null for one that this browser neither ordered nor opened by a mailed link. */
export async function findOwnSubscription(
  { api, site, shopper, opened }: PageContext,
  id: string,
): Promise<Found | null> {
  const customerRef = opened.find((each) => each.id === id)?.customerRef ?? shopper?.ref
  if (customerRef === undefined) return null
  const subscription = await api.findSubscription(site, id, customerRef)
  return subscription && { subscription, own: { id, customerRef } }
}

export async function subscriptionListPage(context: PageContext): Promise<HttpResponse> {
  const { api, site, shopper, opened } = context
  const own = shopper === null ? [] : await api.listSubscriptions(site, shopper.ref)
  const others = opened.filter(({ id }) => !own.some((each) => each.id === id))
  const found = await Promise.all(others.map(({ id }) => findOwnSubscription(context, id)))
  const subscriptions = [...own, ...found.flatMap((each) => each?.subscription ?? [])]
  const products = await api.listProductsOf(
    site,
    subscriptions.map(({ variant_id }) => variant_id),
  )
  const title = pageTitle(context, site.locale.texts.subscriptions.yours)
  const main = subscriptionListMain(context, subscriptions, products)
  return { ...(await renderPage(context, { title, main })), headers: NOT_KEPT }
}

/** Shows a subscription, and why a change was refused. */
export async function subscriptionPage(
  context: RequestContext,
  id: string,
  notice: string | null = null,
): Promise<HttpResponse> {
  const found = await findOwnSubscription(context, id)
  if (found === null) return subscriptionNotHere(context)
  const { texts } = context.site.locale
  const done = findText(texts.subscriptions.done, context.url.searchParams.get('done'))
  const main = subscriptionMain(context, {
    subscription: found.subscription,
    products: await context.api.listProductsOf(context.site, [found.subscription.variant_id]),
    notice,
    success: notice === null ? done : null,
  })
  return { ...(await render(context, found, main)), headers: NOT_KEPT }
}

const render = (context: PageContext, { subscription }: Found, main: Html) => {
  const { texts } = context.site.locale
  const title = texts.subscriptions.title({ number: subscription.subscription_number })
  return renderPage(context, { title: pageTitle(context, title), main })
}

type Shown = Partial<Pick<FormView, 'errors' | 'notice' | 'address'>>

/** The form for another card: in fields of the gateway, if it has some. */
export async function cardPage(
  context: RequestContext,
  id: string,
  { errors = {}, notice = null }: Shown = {},
): Promise<HttpResponse> {
  const found = await findOwnSubscription(context, id)
  if (found === null) return subscriptionNotHere(context)
  const { subscription } = found
  if (!subscription.allowed.includes('change_card')) return redirect(`/subscriptions/${id}`)
  const hosted = await findHostedFields(context)
  const main = cardMain(context, { subscription, errors, notice, hosted })
  const headers = { ...NOT_KEPT, ...hostedHeaders(context.assetBaseUrl, hosted) }
  return { ...(await render(context, found, main)), headers }
}

export async function addressPage(
  context: RequestContext,
  id: string,
  { errors = {}, notice = null, address }: Shown = {},
): Promise<HttpResponse> {
  const found = await findOwnSubscription(context, id)
  if (found === null) return subscriptionNotHere(context)
  const { subscription } = found
  if (!subscription.allowed.includes('change')) return redirect(`/subscriptions/${id}`)
  const main = addressMain(context, { subscription, errors, notice, address })
  return { ...(await render(context, found, main)), headers: NOT_KEPT }
}

/** Opens the subscription of a mailed link in this browser, and redirects to an address without the token. */
export async function openSubscriptionLink(
  context: RequestContext,
  token: string,
): Promise<HttpResponse> {
  const found = await context.api.openSubscriptionLink(context.site, token)
  if (found === null) return subscriptionNotHere(context)
  const { subscription_id: id, customer_ref: customerRef } = found
  return redirect(`/subscriptions/${id}`, [openedCookie(context, { id, customerRef })])
}

export const subscriptionNotHere = (context: RequestContext): Promise<HttpResponse> =>
  notFoundPage(context, context.site.locale.texts.subscriptions.notHere)
