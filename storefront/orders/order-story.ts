import type { GiftCardPurchase, OrderDetail, Parcel } from '../api/types.ts'
import { arrivalNote } from '../layout/arrival.ts'
import type { Site } from '../site/site.ts'
import { findText } from '../translations/error-messages.ts'
import type { Locale } from '../translations/locale.ts'
import { isAsked } from './payment-view.ts'

/** The beginning of an order's page: where the goods are, and what happens next. */
export interface Story {
  title: string
  next: string
}

/** The state of the goods, in the words of an order's status. */
const BY_FULFILLMENT: Readonly<Record<string, string>> = {
  unfulfilled: 'placed',
  processing: 'processing',
  partially_shipped: 'partially_shipped',
  shipped: 'shipped',
  delivered: 'delivered',
}

/**
 * Returns the status of an order by its goods. The platform's status shows a refund in place of the parcel: a shopper
 * who got a partial refund still waits for the other goods. Only an order that was refunded before anything left waits
 * for nothing.
 */
export function goodsStatus({ order }: OrderDetail): string {
  const { status } = order
  const goods = BY_FULFILLMENT[order.fulfillment_status]
  if (goods === undefined) return status
  if (status === 'partially_refunded') return goods
  const hasLeft = !['placed', 'processing'].includes(goods)
  return status === 'refunded' && hasLeft ? goods : status
}

/** Whether the order buys gift cards alone: they come by e-mail, and nothing ships. */
export const hasOnlyGiftCards = ({ items }: OrderDetail): boolean =>
  items.some(({ quantity }) => quantity > 0) &&
  items.every(({ gift_card, quantity }) => gift_card || quantity === 0)

/** The refunded amount of an order. Money that an edit has returned is no refund. */
export const refundedCents = ({ refunds }: OrderDetail): number =>
  refunds
    .filter(({ kind, status }) => kind === 'refund' && status === 'succeeded')
    .reduce((sum, { amount_cents }) => sum + amount_cents, 0)

/** The state of the goods in some words, for lists. */
export function statusText({ texts }: Locale, detail: OrderDetail): string {
  if (isAsked(detail)) return texts.awaitingPayment
  const status = goodsStatus(detail)
  if (status === 'delivered' && hasOnlyGiftCards(detail)) {
    const isWaiting = detail.gift_cards.some(({ send_at }) => isAhead(send_at))
    return isWaiting ? texts.story.mailedLater : texts.story.mailed
  }
  return findText(texts.statuses, status) ?? status
}

export function storyOf(locale: Locale, detail: OrderDetail): Story {
  const { texts } = locale
  const { story } = texts
  if (isAsked(detail)) return { title: texts.awaitingPayment, next: texts.awaitingPaymentNote }
  const status = goodsStatus(detail)
  switch (status) {
    case 'placed':
      return { title: story.preparing, next: story.preparingNext }
    case 'processing':
      return { title: story.packed, next: story.packedNext }
    case 'partially_shipped':
      return { title: story.partlyShipped, next: story.partlyShippedNext }
    case 'shipped':
      return { title: story.shipped, next: shippedNext(locale, detail) }
    case 'delivered':
      return hasOnlyGiftCards(detail)
        ? giftCardStory(locale, detail.gift_cards)
        : { title: story.delivered, next: deliveredNext(locale, detail) }
    case 'cancelled':
    case 'refunded':
      return { title: statusText(locale, detail), next: endedNext(locale, detail) }
    default:
      return {
        title: statusText(locale, detail),
        next: findText(texts.statusNotes, status) ?? texts.statusNote,
      }
  }
}

/** The states in which goods are still expected. */
const COMING = ['placed', 'processing', 'partially_shipped', 'shipped']

/** Says when the goods arrive; null if no goods are expected any more, and once the last of these days has passed. */
export function arrivalOf(site: Site, detail: OrderDetail): string | null {
  const { placed_at, expedited } = detail.order
  const isComing = COMING.includes(goodsStatus(detail)) && !hasOnlyGiftCards(detail)
  if (!isComing || placed_at === null) return null
  return arrivalNote(site, expedited ? 'expedited' : 'standard', placed_at)
}

/** The parcels that are on their way. */
const underWay = ({ fulfillments }: OrderDetail): readonly Parcel[] =>
  fulfillments.filter(({ status }) => status === 'shipped')

/** The only parcel under way, if a page can follow it: the order page shows it first. */
export function parcelToTrack(detail: OrderDetail): Parcel | null {
  const [parcel, ...more] = underWay(detail)
  const url = parcel?.tracking_url ?? ''
  return parcel !== undefined && more.length === 0 && /^https?:\/\//i.test(url) ? parcel : null
}

function shippedNext({ texts }: Locale, detail: OrderDetail): string {
  const [parcel, ...more] = underWay(detail)
  const carrier = more.length === 0 ? parcel?.carrier : null
  return carrier ? texts.story.shippedWith({ carrier }) : texts.story.shippedNext
}

/** Says until when goods can be sent back; the days may differ by line, so the earliest counts. */
function deliveredNext({ texts, formatDate }: Locale, { returnable }: OrderDetail): string {
  const [until] = returnable
    .flatMap((each) => (each.quantity > 0 && each.until !== null ? [each.until] : []))
    .toSorted()
  return until === undefined
    ? texts.story.deliveredNext
    : texts.story.deliveredUntil({ date: formatDate(until) })
}

function endedNext({ texts, formatMoney }: Locale, detail: OrderDetail): string {
  const cents = refundedCents(detail)
  if (cents > 0)
    return texts.story.refundedNext({ amount: formatMoney(cents, detail.order.currency) })
  const wasPaid = detail.charges.some(({ captured_cents }) => captured_cents > 0)
  return wasPaid ? texts.statusNotes.cancelled : texts.story.nothingPaid
}

function giftCardStory({ texts, formatDate }: Locale, cards: readonly GiftCardPurchase[]): Story {
  const { story } = texts
  const count = cards.length
  const [day] = cards.flatMap(({ send_at }) => (isAhead(send_at) ? [send_at] : [])).toSorted()
  if (day !== undefined)
    return { title: story.giftCardOn({ count, date: formatDate(day) }), next: story.giftCardOnNext }
  const recipients = [...new Set(cards.flatMap(({ recipient_email: to }) => (to ? [to] : [])))]
  return {
    title: story.giftCard({ count }),
    next:
      recipients.length === 0
        ? story.giftCardToYou
        : story.giftCardTo({ recipients: recipients.join(', ') }),
  }
}

/** By machine time: a storefront has no clock of the store. */
const isAhead = (at: string | null): at is string => at !== null && Date.parse(at) > Date.now()
