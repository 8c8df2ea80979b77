import type { OrderDetail, Subscription } from '../api/types.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext, RequestContext } from '../request-context.ts'
import type { Site } from '../site/site.ts'

/**
 * The facts that a shopper is told after a purchase, beside the order itself: where mails go, and which deliveries
 * follow.
 */

export interface ConfirmationView {
  /** The address for mails about the order; null if this browser does not know it. */
  email: string | null
  /** The subscriptions that the order has started. */
  subscriptions: readonly Subscription[]
}

/** Reads the facts for the confirmation of an order. Most orders start no subscription; then it sends no request. */
export async function readConfirmation(
  { api, site, confirmed }: RequestContext,
  { order, items }: OrderDetail,
): Promise<ConfirmationView> {
  const email = confirmed?.id === order.id ? confirmed.email : null
  if (!items.some(({ is_subscription }) => is_subscription)) return { email, subscriptions: [] }
  const all = await api.listSubscriptions(site, order.customer_ref)
  return { email, subscriptions: all.filter((each) => each.origin_order_id === order.id) }
}

export function confirmation(
  { site }: PageContext,
  { email, subscriptions }: ConfirmationView,
): Html | null {
  if (email === null && subscriptions.length === 0) return null
  const words = site.locale.texts.buying
  return html`<div class="panel confirmation">${email !== null && html`<p data-confirmed>${words.confirmationTo({ email })}</p>`}${subscriptions.map((each) => started(site, each))}</div>`
}

function started({ locale }: Site, subscription: Subscription): Html {
  const { texts, formatDay } = locale
  const { id, product_name, interval, interval_count, next_charges } = subscription
  const [next] = next_charges
  const what =
    `${product_name ?? ''} (${texts.every[interval]({ count: interval_count })})`.trimStart()
  return html`<p data-subscribed><strong>${texts.buying.subscribedTo({ what })}</strong>${next !== undefined && html` ${texts.buying.nextDelivery({ date: formatDay(next.at) })}`} <a href="/subscriptions/${id}">${texts.buying.manage}</a></p>`
}
