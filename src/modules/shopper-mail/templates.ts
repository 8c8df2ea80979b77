import { addressLines } from '../../../manifest/address-lines.ts'
import type { Block, Content, ContentLine, ContentRow } from '../sites/mail-content.ts'
import type { GiftCardFacts, ItemFacts, MailFacts, OrderFacts, TenderFacts } from './facts.ts'
import { isAboutSubscription, type MailKind } from './schema.ts'
import type { Words } from './words.ts'

/** The contents of each kind of mail. */

/** The texts that the sentences of a mail may contain. All of them are plain: the writer of the mail escapes them. */
interface Names {
  store: string
  /** The number of the order, as `#1001`; empty for a mail without an order. */
  order: string
  /** An amount of money in the form of the language; empty where the mail has none. */
  amount: string
  /** The item that a subscription delivers; empty for a mail about no subscription. */
  item: string
  /** The day that the mail is about; empty for a mail without a day. */
  date: string
}

type Blocks = (Block | false | null)[]

/** The most characters of a subject, which has one line. */
const SUBJECT_LENGTH_MAX = 200

const TEMPLATES: Record<MailKind, (facts: MailFacts) => Blocks> = {
  order_placed: (facts) => [viewOrder(facts), ...subscribedNotes(facts), ...wholeOrder(facts)],
  order_held: (facts) => [viewOrder(facts), ...wholeOrder(facts)],
  order_shipped: (facts) => [
    trackButton(facts) ?? viewOrder(facts),
    trackingFacts(facts),
    unitsBlock(facts, facts.words.inThisParcel, facts.parcel?.units ?? []),
    addressBlock(facts),
    facts.order?.hasMoreToShip === true && { type: 'note', text: facts.words.moreToCome },
    trackButton(facts) && orderLink(facts),
  ],
  order_delivered: (facts) => [
    viewOrder(facts),
    trackingFacts(facts),
    unitsBlock(facts, facts.words.inThisParcel, facts.parcel?.units ?? []),
    facts.order?.hasMoreToShip === true && { type: 'note', text: facts.words.moreToCome },
  ],
  order_refunded: (facts) => [viewOrder(facts), ...refundBlocks(facts)],
  order_cancelled: (facts) => [
    viewOrder(facts),
    linesBlock(facts, facts.words.orderSummary),
    cancellationBlock(facts),
    (facts.cancellation?.refunded_cents ?? 0) > 0 && refundNote(facts),
  ],
  order_edited: (facts) => [
    viewOrder(facts),
    linesBlock(facts, facts.words.orderSummary),
    facts.order && { type: 'totals', rows: totalRows(facts, facts.order) },
    editBlock(facts),
    addressBlock(facts),
  ],
  gift_card: (facts) => giftCardBlocks(facts),
  return_approved: (facts) => [
    labelButton(facts) ?? viewOrder(facts),
    unitsBlock(facts, facts.words.returnedItems, facts.returned?.units ?? []),
    instructionsBlock(facts),
    labelButton(facts) && orderLink(facts),
  ],
  return_received: (facts) => [
    viewOrder(facts),
    unitsBlock(facts, facts.words.returnedItems, facts.returned?.units ?? []),
    (facts.returned?.refunded_cents ?? 0) > 0 && refundNote(facts),
  ],
  payment_request: (facts) => [
    payButton(facts),
    linesBlock(facts, facts.words.orderSummary),
    requestBlock(facts),
    facts.request && {
      type: 'note',
      text: facts.words.payUntil({ date: facts.formats.date(facts.request.expires_at) }),
    },
    addressBlock(facts),
  ],
  subscription_upcoming: subscriptionBlocks,
  subscription_price_changed: subscriptionBlocks,
  subscription_payment_failed: cardBlocks,
  subscription_last_attempt: cardBlocks,
  subscription_recovered: subscriptionBlocks,
  subscription_paused: subscriptionBlocks,
  subscription_cancelled: (facts) => [subscriptionRows(facts)],
  subscription_card_expiring: cardBlocks,
}

/** Makes the content of a mail from its facts. */
export function contentOf(facts: MailFacts): Content {
  const { words, store, kind, order } = facts
  const names: Names = {
    store: store.name,
    order: order === null ? '' : `#${order.number}`,
    amount: amountOf(facts),
    item: facts.subscription?.item ?? '',
    date: facts.subscription?.at ? facts.formats.date(facts.subscription.at) : '',
  }
  const { subject, heading } = words.kinds[kind]
  const blocks = [{ type: 'text' as const, text: introOf(facts, names) }, ...TEMPLATES[kind](facts)]
  return {
    subject: oneLine(subject(names)),
    reference: order === null ? null : words.orderNumber(names),
    heading,
    blocks: blocks.filter((block) => block !== false && block !== null),
    footer: [
      ...(order?.link ? [words.linkNote(order.link)] : []),
      ...linkOf(facts).map(words.subscriptionLinkNote),
      ...(store.email === null ? [] : [words.questions({ email: store.email })]),
      whyOf(facts),
    ],
  }
}

/** The first sentences. Of gift cards they say nothing of parcels, and of a correction nothing of an exchange. */
function introOf({ kind, words, order, request }: MailFacts, names: Names): string {
  if (request !== null && request.correction !== null) return words.correctionIntro(names)
  if (kind === 'order_placed' && hasOnlyGiftCards(order)) return words.giftCardsIntro
  const { kinds } = words
  if (names.amount === '') {
    if (kind === 'order_cancelled') return kinds[kind].introUncharged(names)
    if (kind === 'return_received') return kinds[kind].introUnrefunded(names)
  }
  if (kind === 'subscription_payment_failed' && names.date === '')
    return kinds[kind].introLast(names)
  const { intro } = kinds[kind]
  return typeof intro === 'string' ? intro : intro(names)
}

/** Whether the order buys gift cards alone: nothing of it ships. */
function hasOnlyGiftCards(order: OrderFacts | null): boolean {
  const kept = (order?.items ?? []).filter(({ quantity }) => quantity > 0)
  return kept.length > 0 && kept.every(({ gift_card }) => gift_card)
}

function whyOf({ kind, words, store }: MailFacts): string {
  const names = { store: store.name }
  if (kind === 'gift_card') return words.whyGiftCard(names)
  return isAboutSubscription(kind) ? words.whySubscription(names) : words.why(names)
}

/**
 * Makes one line of a text, so that nothing in it can end a header: the name of a store and an amount are texts from
 * outside.
 */
const oneLine = (text: string): string =>
  [...text.toWellFormed().replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')]
    .slice(0, SUBJECT_LENGTH_MAX)
    .join('')

/** Writes the amount that the mail is about; empty where it is about no amount. */
function amountOf(facts: MailFacts): string {
  const { formats, order, refund, giftCard, cancellation, returned, request } = facts
  if (isAboutSubscription(facts.kind)) return subscriptionAmount(facts)
  if (giftCard !== null) return formats.money(giftCard.balance_cents, giftCard.currency)
  const cents =
    refund?.amount_cents ??
    cancellation?.refunded_cents ??
    returned?.refunded_cents ??
    request?.amount_cents ??
    0
  return order === null || cents === 0 ? '' : formats.money(cents, order.currency)
}

const viewOrder = ({ order, words }: MailFacts): Block | null =>
  order?.link ? { type: 'button', label: words.viewOrder, url: order.link.url } : null

const payButton = ({ order, words }: MailFacts): Block | null =>
  order?.link ? { type: 'button', label: words.payNow, url: order.link.url } : null

/** A link to the order, for mails in which another button comes first. */
const orderLink = ({ order, words }: MailFacts): Block | null =>
  order?.link ? { type: 'link', label: words.viewOrder, url: order.link.url } : null

const trackButton = ({ parcel, words }: MailFacts): Block | null =>
  parcel?.tracking_url
    ? { type: 'button', label: words.trackParcel, url: parcel.tracking_url }
    : null

const labelButton = ({ returned, words }: MailFacts): Block | null =>
  returned?.label_url ? { type: 'button', label: words.printLabel, url: returned.label_url } : null

/** Says what an order has started, so that its confirmation is also that of a subscription. */
const subscribedNotes = ({ order, words, formats }: MailFacts): Blocks =>
  (order?.subscriptions ?? []).map(({ item, next_charge_at: at }) => ({
    type: 'text',
    text:
      at === null
        ? words.subscribed({ item })
        : words.subscribedWithNext({ item, date: formats.date(at) }),
  }))

const wholeOrder = (facts: MailFacts): Blocks => [
  linesBlock(facts, facts.words.orderSummary),
  facts.order && { type: 'totals', rows: totalRows(facts, facts.order) },
  addressBlock(facts),
  paidBlock(facts),
]

const lineOf = (item: ItemFacts, quantity: number, amount: string | null): ContentLine => ({
  name: item.name,
  label: item.label,
  quantity,
  amount,
  imageUrl: item.imageUrl,
})

/** Shows all lines of the order, except those that an edit has removed. */
function linesBlock({ order, formats }: MailFacts, title: string): Block | null {
  const items = (order?.items ?? []).filter(({ quantity }) => quantity > 0)
  if (order === null || items.length === 0) return null
  const lines = items.map((item) =>
    lineOf(item, item.quantity, formats.money(item.total_cents, order.currency)),
  )
  return { type: 'lines', title, lines }
}

interface Units {
  order_item_id: string | null
  quantity: number
}

/** Shows some units of the order: the contents of a parcel, or the units that come back. */
function unitsBlock({ order }: MailFacts, title: string, units: readonly Units[]): Block | null {
  const items = new Map(order?.items.map((item) => [item.order_item_id, item]))
  const lines = units.flatMap(({ order_item_id, quantity }) => {
    const item = items.get(order_item_id ?? '')
    return item === undefined ? [] : [lineOf(item, quantity, null)]
  })
  return lines.length === 0 ? null : { type: 'lines', title, lines }
}

function totalRows({ words, formats }: MailFacts, order: OrderFacts): ContentRow[] {
  const money = (cents: number) => formats.money(cents, order.currency)
  const { discount_cents, shipping_cents, tax_cents, coupon_code, prices_include_tax } = order
  const rate = order.tax_rate_bps === null ? null : formats.rate(order.tax_rate_bps)
  const discount = coupon_code === null ? words.discount : `${words.discount} (${coupon_code})`
  const rows: (ContentRow | false)[] = [
    { label: words.subtotal, value: money(order.subtotal_cents) },
    discount_cents > 0 && { label: discount, value: `−${money(discount_cents)}` },
    !hasOnlyGiftCards(order) && {
      label: words.shipping,
      value: shipping_cents === 0 ? words.free : money(shipping_cents),
    },
    tax_cents > 0 && !prices_include_tax && { label: words.tax, value: money(tax_cents) },
    { label: words.total, value: money(order.total_cents), isTotal: true },
    tax_cents > 0 &&
      prices_include_tax && {
        label: rate === null ? words.taxIncluded : words.taxIncludedAt({ rate }),
        value: money(tax_cents),
        isQuiet: true,
      },
  ]
  return rows.filter((row) => row !== false)
}

function addressBlock({ order, words, formats }: MailFacts): Block | null {
  if (!order?.ship_to || hasOnlyGiftCards(order)) return null
  const lines = addressLines(order.ship_to, formats.country)
  return { type: 'address', title: words.shipsTo, lines }
}

/** Names a tender as its owner knows it: "Visa ending in 1111". */
function tenderName({ words }: MailFacts, { tender, brand, last4 }: TenderFacts): string {
  const name =
    brand === null ? words.tenders[tender] : brand.charAt(0).toUpperCase() + brand.slice(1)
  return last4 === null ? name : words.endingIn({ name, last4 })
}

const tenderNames = (facts: MailFacts, tenders: readonly TenderFacts[]): string =>
  [...new Set(tenders.map((tender) => tenderName(facts, tender)))].join(', ')

function paidBlock(facts: MailFacts): Block | null {
  const { order, words } = facts
  if (order === null || order.paid_with.length === 0) return null
  const value = tenderNames(facts, order.paid_with)
  return { type: 'facts', rows: [{ label: words.paidWith, value }] }
}

function trackingFacts({ parcel, words }: MailFacts): Block | null {
  if (parcel === null) return null
  const { carrier, tracking_number, tracking_url: url } = parcel
  const rows: ContentRow[] = [
    ...(carrier === null ? [] : [{ label: words.carrier, value: carrier }]),
    ...(tracking_number === null
      ? []
      : [{ label: words.trackingNumber, value: tracking_number, url }]),
  ]
  return rows.length === 0 ? null : { type: 'facts', rows }
}

const refundNote = ({ words }: MailFacts): Block => ({ type: 'note', text: words.refundDays })

function refundBlocks(facts: MailFacts): Blocks {
  const { order, refund, words, formats } = facts
  if (order === null || refund === null) return []
  const value = formats.money(refund.amount_cents, order.currency)
  const rows: ContentRow[] = [
    ...(refund.to.length === 0
      ? []
      : [{ label: words.refundedTo, value: tenderNames(facts, refund.to) }]),
    { label: words.refunded, value, isTotal: true },
  ]
  const isToCard = refund.to.some(({ tender }) => tender === 'card')
  return [{ type: 'totals', rows }, isToCard && refundNote(facts)]
}

function cancellationBlock({ order, cancellation, words, formats }: MailFacts): Block | null {
  if (order === null || cancellation === null || cancellation.refunded_cents === 0) return null
  const value = formats.money(cancellation.refunded_cents, order.currency)
  return { type: 'totals', rows: [{ label: words.refunded, value, isTotal: true }] }
}

function editBlock({ order, edit, words, formats }: MailFacts): Block | null {
  if (order === null || edit === null || edit.delta_cents === 0) return null
  const money = (cents: number) => formats.money(cents, order.currency)
  const { total_before_cents, delta_cents } = edit
  const label = delta_cents > 0 ? words.charged : words.refunded
  return {
    type: 'totals',
    rows: [
      { label: words.oldTotal, value: money(total_before_cents) },
      { label, value: money(Math.abs(delta_cents)), isTotal: true },
    ],
  }
}

/** Shows the totals, how much of them the return pays, and how much is left to pay. */
function requestBlock(facts: MailFacts): Block | null {
  const { order, request, words, formats } = facts
  if (order === null || request === null) return null
  const money = (cents: number) => formats.money(cents, order.currency)
  const { credit_cents, amount_cents } = request
  return {
    type: 'totals',
    rows: [
      ...totalRows(facts, order),
      ...(credit_cents === 0
        ? []
        : [
            {
              label: request.correction === null ? words.fromReturn : words.alreadyPaid,
              value: `−${money(credit_cents)}`,
            },
          ]),
      { label: words.toPay, value: money(amount_cents), isTotal: true },
    ],
  }
}

function giftCardBlocks({ giftCard, store, words, formats }: MailFacts): Blocks {
  if (giftCard === null) return []
  const { code, balance_cents, currency, expires_at } = giftCard
  return [
    giftCardMessage(words, giftCard),
    {
      type: 'code',
      title: words.giftCardCode,
      code,
      amount: formats.money(balance_cents, currency),
      below: expires_at === null ? null : words.validUntil({ date: formats.date(expires_at) }),
    },
    { type: 'note', text: words.giftCardUse },
    store.url !== null && { type: 'button', label: words.visitStore, url: store.url },
  ]
}

/** Shows the buyer's message to the recipient. */
function giftCardMessage(words: Words, { recipient_name: name, message }: GiftCardFacts) {
  if (name === null && message === null) return null
  const title = name === null ? words.giftCardMessage : words.giftCardFor({ name })
  return { type: 'address' as const, title, lines: (message ?? '').split(/\r?\n/) }
}

const instructionsBlock = ({ returned, words }: MailFacts): Block | null =>
  returned?.instructions
    ? { type: 'address', title: words.instructions, lines: returned.instructions.split(/\r?\n/) }
    : null

const subscriptionAmount = ({ subscription, formats }: MailFacts): string =>
  subscription === null || subscription.amount_cents === null
    ? ''
    : formats.money(subscription.amount_cents, subscription.currency)

const linkOf = ({ kind, subscription }: MailFacts) =>
  isAboutSubscription(kind) && subscription?.link ? [subscription.link] : []

function subscriptionBlocks(facts: MailFacts): Blocks {
  const label = facts.words.manageSubscription
  return [...linkOf(facts).map(({ url }) => button(label, url)), subscriptionRows(facts)]
}

/** The blocks of a mail about a subscription whose customer should enter another card. */
function cardBlocks(facts: MailFacts): Blocks {
  const label = facts.words.updateCard
  return [...linkOf(facts).map(({ url }) => button(label, url)), subscriptionRows(facts)]
}

const button = (label: string, url: string): Block => ({ type: 'button', label, url })

function subscriptionRows(facts: MailFacts): Block | null {
  const { subscription, words } = facts
  if (subscription === null) return null
  const { item, quantity, card } = subscription
  const amount = subscriptionAmount(facts)
  const rows: ContentRow[] = [
    { label: words.subscription, value: quantity === 1 ? item : `${quantity} × ${item}` },
    ...(amount === '' ? [] : [{ label: words.amount, value: amount }]),
    ...(card.last4 === null ? [] : [{ label: words.card, value: tenderName(facts, card) }]),
  ]
  return { type: 'facts', rows }
}
