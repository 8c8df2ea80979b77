import type { Db } from '../../db/database.ts'
import { variantImages } from '../catalog/images.ts'
import { findVariantName } from '../catalog/service.ts'
import * as fulfillment from '../fulfillment/service.ts'
import type { CodeKeys } from '../gift-cards/card-code.ts'
import { findWords } from '../gift-cards/purchases.ts'
import * as giftCards from '../gift-cards/service.ts'
import type { Correction } from '../order-changes/correction.ts'
import { createLinkToken } from '../order-links/service.ts'
import type { Fulfillment } from '../orders/parcel-schema.ts'
import { findRequest, readCorrection } from '../orders/payment-request.ts'
import type { ChargeRow, OrderItem, OrderRow, RefundRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { deliveryAddress } from '../orders/ship-to.ts'
import { rateOf } from '../pricing/tax.ts'
import * as returns from '../returns/service.ts'
import { type LookDeps, loadStoreLook, ownAsset } from '../sites/mail-look.ts'
import * as stores from '../stores/service.ts'
import { findDue } from '../subscriptions/cycles.ts'
import { SUBSCRIPTION_LINK_DAYS, subscriptionLink } from '../subscriptions/link.ts'
import { listOfOrder } from '../subscriptions/service.ts'
import type {
  GiftCardFacts,
  MailFacts,
  OrderFacts,
  ParcelFacts,
  RefundFacts,
  ReturnFacts,
  SubscriptionFacts,
  TenderFacts,
} from './facts.ts'
import { formatsOf } from './formats.ts'
import {
  isAboutSubscription,
  type MailDetails,
  type MailKind,
  type MailLanguage,
  type MailReason,
  type MailSubject,
} from './schema.ts'
import { languageOf, wordsIn } from './words.ts'

/** Reads the facts of a mail, as they are when the mail is sent. */

export interface MailDeps extends LookDeps {
  /** Signs the links to orders. */
  linkKey: Buffer
  /** Signs the links to subscriptions. */
  subscriptionKey: Buffer
  giftCardKeys: CodeKeys
}

/** How long the link of a mail opens its order: as long as parcels and refunds may take. */
const LINK_DAYS = 30

/** The width of a picture that is shown 60 pixels wide, also on a sharp screen. */
const IMAGE_WIDTH = 320

export interface Loaded {
  facts: MailFacts
  recipient: string
}

/** How a mail is shown to its merchant: in a language, without a link or a code that acts for the shopper. */
export interface Shown {
  language: MailLanguage
}

/** Loads the facts of a mail and its recipient, or returns why the mail is not sent. */
export async function loadMail(
  deps: MailDeps,
  db: Db,
  subject: MailSubject,
  shown?: Shown,
): Promise<Loaded | { skip: MailReason }> {
  const isShown = shown !== undefined
  const common = await loadCommon(deps, db, subject.kind, shown?.language)
  if (subject.kind === 'gift_card')
    return loadGiftCard(deps, db, common, { id: subject.about_id, isShown })
  if (isAboutSubscription(subject.kind))
    return loadSubscription(deps, db, common, { details: subject.details, isShown })
  const about = { id: subject.order_id ?? '', hasToken: !isShown }
  const { order, recipient, facts } = await loadOrder(deps, db, common, about)
  if (recipient === null) return { skip: 'no_address' }
  const parts = await loadParts(db, order, subject)
  if (parts === null) return { skip: 'recalled' }
  const corrected = parts.request?.correction ?? {}
  return { recipient, facts: { ...common, order: { ...facts, ...corrected }, ...parts } }
}

/** Loads the facts that every mail of a store has. The language is the store's, unless the request names another. */
export async function loadCommon(
  deps: MailDeps,
  db: Db,
  kind: MailKind,
  fixed?: MailLanguage,
): Promise<MailFacts> {
  const store = await stores.get(db)
  const language = fixed ?? languageOf(store.language)
  const isOwn = store.language.split('-')[0] === language
  return {
    kind,
    language,
    words: wordsIn(language),
    // The store's own tag says more than the language, such as the format of money in `de-CH`.
    formats: formatsOf(isOwn ? store.language : language, store.time_zone),
    store: {
      ...(await loadStoreLook(deps, db, store)),
      sandbox: store.sandbox,
      owner_email: store.owner_email,
    },
    order: null,
    parcel: null,
    refund: null,
    giftCard: null,
    edit: null,
    cancellation: null,
    returned: null,
    subscription: null,
    request: null,
  }
}

interface OrderToLoad {
  id: string
  /** Whether the link opens the order with the rights of its shopper. In previews it does not. */
  hasToken: boolean
}

/** Loads the facts that a mail shows of an order. */
export async function loadOrder(
  deps: MailDeps,
  db: Db,
  { store }: MailFacts,
  { id, hasToken }: OrderToLoad,
): Promise<{ order: OrderRow; recipient: string | null; facts: OrderFacts }> {
  const order = await orders.get(db, id)
  const [items, charges] = await Promise.all([
    orders.listItems(db, order.id),
    orders.listCharges(db, order.id),
  ])
  const [images, subscriptions] = await Promise.all([
    variantImages(
      db,
      items.map(({ variant_id }) => variant_id),
    ),
    startedBy(db, order.id, items),
  ])
  const imageOf = (item: OrderItem) => {
    const url = ownAsset(deps, db, store.url, images.get(item.variant_id) ?? null)
    return url === null ? null : `${url}?w=${IMAGE_WIDTH}`
  }
  const path = hasToken ? `/link/${createLinkToken(deps.linkKey, db, order, LINK_DAYS)}` : ''
  const url = store.url === null ? null : `${store.url}/orders${path}`
  const facts: OrderFacts = {
    ...order,
    number: order.order_number,
    ship_to: deliveryAddress(order),
    items: items.map((item) => ({
      order_item_id: item.id,
      name: item.product_name,
      label: item.label,
      quantity: item.quantity,
      total_cents: item.line_total_cents,
      imageUrl: imageOf(item),
      gift_card: item.gift_card,
    })),
    paid_with: charges
      .filter(({ status }) => status === 'captured' || status === 'authorized')
      .map(tenderOf),
    link: url === null ? null : { url, days: LINK_DAYS },
    ...(subscriptions.length > 0 && { subscriptions }),
    hasMoreToShip:
      order.cancelled_at === null && order.q_shipped < order.q_ordered - order.q_cancelled,
  }
  return { order, recipient: order.email, facts }
}

/** The subscriptions that an order has started. Most orders start none, and nothing is read for them. */
async function startedBy(db: Db, orderId: string, items: readonly OrderItem[]) {
  if (!items.some(({ is_subscription }) => is_subscription)) return []
  const started = await listOfOrder(db, orderId)
  return started.map(({ variant_id, next_charge_at }) => {
    const item = items.find((each) => each.is_subscription && each.variant_id === variant_id)
    return { item: item?.product_name ?? '', next_charge_at }
  })
}

const tenderOf = ({ tender, card, gift_card_last4 }: ChargeRow): TenderFacts => ({
  tender,
  brand: card?.brand ?? null,
  last4: card?.last4 ?? gift_card_last4,
})

type Parts = Partial<
  Pick<MailFacts, 'parcel' | 'refund' | 'edit' | 'cancellation' | 'returned' | 'request'>
>

/** Loads the facts that the mail has beside the order. Returns null where the thing that it is about is undone. */
async function loadParts(db: Db, order: OrderRow, subject: MailSubject): Promise<Parts | null> {
  const { kind, about_id, details } = subject
  switch (kind) {
    case 'order_shipped':
    case 'order_delivered':
      return loadParcel(db, order.id, about_id)
    case 'order_refunded':
      return { refund: await loadRefund(db, order.id, about_id) }
    case 'order_cancelled':
      return { cancellation: { refunded_cents: details?.refunded_cents ?? 0 } }
    case 'order_edited':
      return {
        edit: {
          total_before_cents: details?.total_before_cents ?? 0,
          delta_cents: details?.delta_cents ?? 0,
        },
      }
    case 'return_approved':
    case 'return_received':
      return loadReturn(db, kind, details)
    case 'payment_request':
      return loadRequest(db, order)
    default:
      return {}
  }
}

/** Loads the payment request of an order. A request that is paid, withdrawn or expired is not mailed any more. */
async function loadRequest(db: Db, { id, total_cents }: OrderRow): Promise<Parts | null> {
  const found = await findRequest(db, id)
  if (found === null || found.status !== 'open') return null
  const { amount_cents, expires_at, purpose } = found
  if (purpose === 'order') {
    const credit_cents = total_cents - amount_cents
    return { request: { amount_cents, credit_cents, expires_at, correction: null } }
  }
  const correction = correctedFacts(await readCorrection(db, id))
  return { request: { amount_cents, credit_cents: total_cents, expires_at, correction } }
}

/** The order as it is once its correction is paid for. */
function correctedFacts(found: object | null): Partial<OrderFacts> {
  const { priced, contact } = (found ?? {}) as Partial<Correction>
  if (!priced || !contact) return {}
  const { pricing, ...totals } = priced.totals
  const tax_rate_bps = rateOf(pricing.tax)
  return { ...totals, tax_rate_bps, ship_to: deliveryAddress(contact) }
}

async function loadParcel(db: Db, order_id: string, id: string): Promise<Parts | null> {
  const parcels = await fulfillment.listOfOrder(db, order_id)
  const parcel = parcels.find((each) => each.id === id && each.status !== 'cancelled')
  return parcel === undefined ? null : { parcel: parcelFacts(parcel) }
}

export const parcelFacts = (parcel: Fulfillment): ParcelFacts => ({
  carrier: parcel.carrier,
  tracking_number: parcel.tracking_number,
  tracking_url: webAddress(parcel.tracking_url),
  units: parcel.items.map(({ order_item_id, quantity }) => ({ order_item_id, quantity })),
})

async function loadRefund(db: Db, order_id: string, id: string): Promise<RefundFacts | null> {
  const [refunds, charges] = await Promise.all([
    orders.listRefunds(db, order_id),
    orders.listCharges(db, order_id),
  ])
  const refund = refunds.find(({ refund_id }) => refund_id === id)
  return refund === undefined ? null : refundFacts(refund, charges)
}

/** Describes a refund. It goes to the tender that paid, or to store credit where that tender cannot take it. */
export function refundFacts(refund: RefundRow, charges: readonly ChargeRow[]): RefundFacts {
  const to = refund.tenders
    .filter(({ status }) => status === 'succeeded')
    .map(({ charge_id, tender }) => {
      const charge = charges.find((each) => each.charge_id === charge_id)
      return charge?.tender === tender ? tenderOf(charge) : { tender, brand: null, last4: null }
    })
  return { amount_cents: refund.amount_cents, to }
}

/** Loads the facts of a return. The merchant's message is read from the return, since an event has none. */
async function loadReturn(
  db: Db,
  kind: MailKind,
  details: MailDetails | null,
): Promise<Parts | null> {
  const { return_id, lines = [], refunded_cents = 0 } = details ?? {}
  const found = await returns.get(db, return_id ?? '')
  if (kind === 'return_approved' && found.status === 'cancelled') return null
  const isReceipt = kind === 'return_received'
  const returned: ReturnFacts = {
    instructions: isReceipt ? null : found.instructions,
    label_url: isReceipt ? null : webAddress(found.label_url),
    refunded_cents,
    units: lines
      .map(({ order_item_id, quantity, received_quantity }) => ({
        order_item_id,
        quantity: isReceipt ? received_quantity : quantity,
      }))
      .filter(({ quantity }) => quantity > 0),
  }
  return { returned }
}

async function loadSubscription(
  { subscriptionKey }: MailDeps,
  db: Db,
  common: MailFacts,
  { details, isShown }: { details: MailDetails | null; isShown: boolean },
): Promise<Loaded | { skip: MailReason }> {
  const { subscription_id, at = null, total_cents = null } = details ?? {}
  const found = subscription_id ? await findDue(db, subscription_id) : null
  if (found === null || found.email === null) return { skip: 'no_address' }
  const name = await findVariantName(db, found.variant_id)
  const url = isShown
    ? common.store.url
    : subscriptionLink(subscriptionKey, db, common.store.url, found.id)
  const subscription: SubscriptionFacts = {
    item: [name?.product_name ?? '', name?.label ?? ''].filter(Boolean).join(', '),
    quantity: found.quantity,
    currency: found.currency,
    amount_cents: total_cents,
    at,
    card: { tender: 'card', brand: found.card_brand, last4: found.card_last4 },
    link: url === null ? null : { url, days: SUBSCRIPTION_LINK_DAYS },
  }
  return { recipient: found.email, facts: { ...common, subscription } }
}

/**
 * Loads the facts of a gift card. The code is decrypted for the mail alone. A card whose code is erased cannot be
 * mailed, and a card that was refunded or disabled before its day is not.
 */
async function loadGiftCard(
  { giftCardKeys }: MailDeps,
  db: Db,
  common: MailFacts,
  { id, isShown }: { id: string; isShown: boolean },
): Promise<Loaded | { skip: MailReason }> {
  const card = await giftCards.get(db, id)
  if (card.recipient_email === null) return { skip: 'no_address' }
  if (!isShown && !giftCards.isUsable(card)) return { skip: 'recalled' }
  const [code, words] = await Promise.all([
    isShown ? maskCode(card) : giftCards.findCode(db, giftCardKeys, card.id),
    findWords(db, card.id),
  ])
  if (code === null) return { skip: 'no_code' }
  const giftCard: GiftCardFacts = {
    recipient_name: words?.recipient_name ?? null,
    message: words?.message ?? null,
    code,
    balance_cents: card.balance_cents,
    currency: card.currency,
    expires_at: card.expires_at,
  }
  return { recipient: card.recipient_email, facts: { ...common, giftCard } }
}

/** The code of a gift card as it is shown to a merchant: it is money. */
const maskCode = ({ code_last4 }: { code_last4: string }): string => `****-****-${code_last4}`

/** Returns an http(s) address; null for any other, above all for scripts. */
function webAddress(value: unknown): string | null {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null
}
