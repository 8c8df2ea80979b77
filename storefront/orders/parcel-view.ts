import type { OrderDetail, OrderItem, Parcel } from '../api/types.ts'
import { type Html, html } from '../layout/html.ts'
import { webLink } from '../layout/web-link.ts'
import type { PageContext } from '../request-context.ts'
import type { Locale } from '../translations/locale.ts'
import { goodsStatus, hasOnlyGiftCards, parcelToTrack } from './order-story.ts'

/** The progress of an order, and its parcels. */

const STEPS = ['ordered', 'prepared', 'underWay', 'delivered'] as const

/** The step that each state of the fulfilment has reached. */
const REACHED: Record<string, number> = {
  unfulfilled: 0,
  processing: 1,
  partially_shipped: 2,
  shipped: 2,
  delivered: 3,
}

/** The states of orders without a delivery: no progress is shown for them. */
const ENDED = ['pending_payment', 'payment_failed', 'cancelled', 'refunded']

export function progress({ site }: PageContext, detail: OrderDetail): Html | null {
  const { texts } = site.locale
  if (hasOnlyGiftCards(detail)) return null
  const reached = REACHED[detail.order.fulfillment_status]
  if (reached === undefined || ENDED.includes(goodsStatus(detail))) return null
  const steps = STEPS.map(
    (step, at) =>
      html`<li${at <= reached && html` class="done"`}${at === reached && html` aria-current="step"`}>${texts.progressSteps[step]}</li>`,
  )
  return html`<ol class="progress" aria-label="${texts.progress}">${steps}</ol>`
}

/** Renders the parcels of an order; null if nothing was packed yet. */
export function parcels({ site }: PageContext, detail: OrderDetail): Html | null {
  const { texts } = site.locale
  const { fulfillments, items } = detail
  const shown = fulfillments.filter(isShown)
  const tracked = parcelToTrack(detail)
  if (shown.length === 0) return null
  const entries = shown.map((parcel, at) =>
    parcelEntry(site.locale, parcel, {
      number: at + 1,
      count: shown.length,
      isTracked: parcel === tracked,
    }),
  )
  const rest = ENDED.includes(goodsStatus(detail))
    ? []
    : items.flatMap((item) => unpacked(item, shown))
  return html`<section><h2>${texts.parcels}</h2><ul class="parcels">${entries}</ul>${
    rest.length > 0 &&
    html`<p class="note">${texts.stillToCome} ${unitsText(site.locale, rest)}</p>`
  }</section>`
}

/**
 * Whether a parcel is shown. A parcel that was unpacked again never left; one that was sent and did not arrive is
 * shown.
 */
const isShown = ({ status, shipped_at }: Parcel): boolean =>
  status !== 'cancelled' || shipped_at !== null

function parcelEntry(
  locale: Locale,
  parcel: Parcel,
  { number, count, isTracked }: { number: number; count: number; isTracked: boolean },
): Html {
  const { texts, formatTime } = locale
  const { status, carrier, service, tracking_number, items } = parcel
  const at = parcel.delivered_at ?? parcel.shipped_at
  const by = [carrier, service].filter(Boolean).join(', ')
  return html`<li class="parcel" data-parcel="${status}"><p class="parcel-head"><strong>${texts.parcelOf({ number, count })}</strong> <span>${texts.parcelStates[status]}</span>${
    at !== null && status !== 'cancelled' && html` <time datetime="${at}">${formatTime(at)}</time>`
  }</p>
<p>${unitsText(locale, items)}</p>
${(by !== '' || tracking_number !== null) && html`<p class="note">${by} ${tracking_number}</p>`}
${status !== 'cancelled' && !isTracked && webLink(texts.trackParcel, parcel.tracking_url)}</li>`
}

interface Units {
  product_name: string
  label: string | null
  quantity: number
}

export const unitsText = ({ formatNumber }: Locale, units: readonly Units[]): string =>
  units
    .map(
      ({ product_name, label, quantity }) =>
        `${formatNumber(quantity)} × ${product_name}${label === null ? '' : ` (${label})`}`,
    )
    .join(', ')

/** The units of a line that are in no parcel, or in a cancelled one. */
function unpacked(item: OrderItem, shown: readonly Parcel[]): Units[] {
  const packed = shown
    .filter(({ status }) => status !== 'cancelled')
    .flatMap(({ items }) => items)
    .filter(({ order_item_id }) => order_item_id === item.id)
    .reduce((sum, { quantity }) => sum + quantity, 0)
  const quantity = item.gift_card ? 0 : item.quantity - packed
  return quantity > 0 ? [{ ...item, quantity }] : []
}
