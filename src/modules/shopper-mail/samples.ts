import type { Db } from '../../db/database.ts'
import * as fulfillment from '../fulfillment/service.ts'
import * as orders from '../orders/service.ts'
import * as stores from '../stores/service.ts'
import { loadCommon, loadOrder, type MailDeps, parcelFacts, refundFacts } from './compose.ts'
import type { MailFacts, OrderFacts, SubscriptionFacts } from './facts.ts'
import { isAboutSubscription, type MailKind, type MailLanguage } from './schema.ts'

/** The facts of previews: those of an order of the store, or of a made-up order if no order is named. */

export interface PreviewRequest {
  kind: MailKind
  order_id: string | undefined
  language: MailLanguage | undefined
}

/** Loads the facts of a preview. Parts that an order does not have yet are made up. */
export async function loadPreview(
  deps: MailDeps,
  db: Db,
  { kind, order_id, language }: PreviewRequest,
): Promise<MailFacts> {
  const common = await loadCommon(deps, db, kind, language)
  const { currency } = await stores.get(db)
  const order =
    order_id === undefined
      ? sampleOrder(common, currency)
      : (await loadOrder(deps, db, common, { id: order_id, hasToken: false })).facts
  const sample = sampleFacts({ ...common, order }, order)
  return order_id === undefined ? sample : { ...sample, ...(await loadReal(db, kind, order_id)) }
}

/** Loads the last parcel or refund of the order, if the mail is about one. */
async function loadReal(db: Db, kind: MailKind, order_id: string): Promise<Partial<MailFacts>> {
  if (kind === 'order_shipped' || kind === 'order_delivered') {
    const parcels = await fulfillment.listOfOrder(db, order_id)
    const parcel = parcels.findLast(({ status }) => status === 'shipped' || status === 'delivered')
    return parcel === undefined ? {} : { parcel: parcelFacts(parcel) }
  }
  if (kind !== 'order_refunded') return {}
  const [refunds, charges] = await Promise.all([
    orders.listRefunds(db, order_id),
    orders.listCharges(db, order_id),
  ])
  const refund = refunds.findLast(({ status }) => status === 'succeeded')
  return refund === undefined ? {} : { refund: refundFacts(refund, charges) }
}

const CARD = { tender: 'card', brand: 'visa', last4: '1111' } as const

/** Makes up the facts of a preview. Only the part that the kind is about is there, as in a mail that is sent. */
function sampleFacts(facts: MailFacts, order: OrderFacts): MailFacts {
  if (isAboutSubscription(facts.kind))
    return { ...facts, order: null, subscription: sampleSubscription(facts, order) }
  const units = order.items.slice(0, 1).map(({ order_item_id }) => ({ order_item_id, quantity: 1 }))
  const cents = order.items[0]?.total_cents ?? 0
  switch (facts.kind) {
    case 'order_shipped':
    case 'order_delivered':
      return {
        ...facts,
        parcel: {
          carrier: 'UPS',
          tracking_number: '1Z999AA10123456784',
          tracking_url: 'https://www.ups.com/track?tracknum=1Z999AA10123456784',
          units,
        },
      }
    case 'order_refunded':
      return { ...facts, refund: { amount_cents: cents, to: [CARD] } }
    case 'order_cancelled':
      return { ...facts, cancellation: { refunded_cents: order.total_cents } }
    case 'order_edited':
      return {
        ...facts,
        edit: { total_before_cents: order.total_cents + cents, delta_cents: -cents },
      }
    case 'gift_card':
      return { ...facts, order: null, giftCard: sampleCard(order) }
    case 'return_approved':
    case 'return_received':
      return {
        ...facts,
        returned: {
          instructions: '1 Harbour Street\n10115 Berlin',
          label_url: facts.kind === 'return_approved' ? facts.store.url : null,
          refunded_cents: facts.kind === 'return_received' ? cents : 0,
          units,
        },
      }
    case 'payment_request':
      return {
        ...facts,
        request: {
          amount_cents: cents,
          credit_cents: order.total_cents - cents,
          expires_at: SAMPLE_DAY,
          correction: null,
        },
      }
    default:
      return facts
  }
}

const sampleSubscription = ({ store }: MailFacts, order: OrderFacts): SubscriptionFacts => ({
  item: order.items[0]?.name ?? '',
  quantity: 1,
  currency: order.currency,
  amount_cents: order.items[0]?.total_cents ?? 0,
  at: SAMPLE_DAY,
  card: CARD,
  link: store.url === null ? null : { url: `${store.url}/account`, days: 30 },
})

/** A day of the calendar, so that a preview is the same each time. */
const SAMPLE_DAY = '2027-01-31T12:00:00Z'

const sampleCard = ({ currency }: OrderFacts) => ({
  code: '••••-••••-••••-7K2M',
  balance_cents: 5_000,
  currency,
  expires_at: null,
  recipient_name: 'Robin',
  message: 'Happy birthday!',
})

const sampleOrder = ({ store }: MailFacts, currency: string): OrderFacts => ({
  number: 1001,
  currency,
  items: [
    sampleItem('1', { name: 'Stoneware mug', label: 'Sea green', quantity: 2, total_cents: 4_800 }),
    sampleItem('2', { name: 'Linen tea towel', label: null, quantity: 1, total_cents: 1_950 }),
  ],
  subtotal_cents: 6_750,
  discount_cents: 675,
  coupon_code: 'WELCOME10',
  shipping_cents: 590,
  tax_cents: 0,
  total_cents: 6_665,
  prices_include_tax: false,
  tax_rate_bps: null,
  ship_to: {
    name: 'Alex Morgan',
    line1: '12 Harbour Street',
    line2: null,
    city: 'Portland',
    state: 'ME',
    postal_code: '04101',
    country: 'US',
  },
  paid_with: [CARD],
  link: store.url === null ? null : { url: `${store.url}/orders`, days: 30 },
  hasMoreToShip: true,
})

const sampleItem = (
  order_item_id: string,
  item: { name: string; label: string | null; quantity: number; total_cents: number },
) => ({ order_item_id, imageUrl: null, gift_card: false, ...item })
