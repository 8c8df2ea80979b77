import type { Db } from '../../db/database.ts'
import * as inventory from '../inventory/service.ts'
import type { ChargeRow, OrderItem, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import type { OrderChangeDeps } from './deps.ts'
import { type Edited, priceEdit, withQuantities } from './edit-pricing.ts'
import { requireCharge } from './plan.ts'
import { splitOverTenders, type TenderShare } from './refund-parts.ts'
import { sumReserved } from './refund-queries.ts'
import { destinationsOf } from './refund-units.ts'
import type { EditPreview, MerchantEdit, ShopperEdit } from './schema.ts'
import { requireNoDispute } from './settle-refund-money.ts'

/** Computes an edit without making it, by the functions that make it. */

/** An edit that leaves no unit cancels the order. */
const NOTHING_LEFT = {
  subtotal_cents: 0,
  discount_cents: 0,
  shipping_cents: 0,
  tax_cents: 0,
  total_cents: 0,
} as const

export async function previewEdit(
  { tax }: Pick<OrderChangeDeps, 'tax'>,
  db: Db,
  orderId: string,
  body: ShopperEdit | MerchantEdit,
): Promise<EditPreview> {
  const order = await orders.get(db, orderId)
  const [before, charges, reserved] = await Promise.all([
    orders.listItems(db, order.id),
    orders.listCharges(db, order.id),
    sumReserved(db, order.id),
  ])
  const after = withQuantities(before, body)
  // An unpaid order cannot be edited, but an edit that leaves no units cancels it.
  const action = after === null && order.placed_at === null ? 'cancel' : 'edit'
  orders.requireAllowed(order, action, reserved.pending)
  requireCharge(charges, body.charge_id)
  const edited =
    after === null ? null : await priceEdit(db, tax, order, { before, after, request: body })
  // A cancellation moves money of an exchange back to its return.
  const own = after === null ? charges.filter(({ moved_from }) => moved_from === null) : charges
  const delta_cents = edited?.delta_cents ?? -orders.refundableOf(own)
  const tenders = splitOverTenders(own, Math.max(0, -delta_cents), 'original')
  await requireNoDispute(db, order, charges, tenders)
  return shown(order, {
    before,
    edited,
    delta_cents,
    charges,
    tenders: await destinationsOf(db, charges, tenders),
    stock: await inventory.available(
      db,
      (edited?.take ?? []).map(({ variant_id }) => variant_id),
    ),
  })
}

/** A card that the gateway stores without revealing its brand and number. */
const UNKNOWN_CARD = { brand: null, last4: null }

interface EditFacts {
  before: readonly OrderItem[]
  /** Null: the order is cancelled. */
  edited: Edited | null
  delta_cents: number
  charges: readonly ChargeRow[]
  tenders: readonly TenderShare[]
  stock: ReadonlyMap<string, number | null>
}

function shown(
  { total_cents, prices_include_tax, currency }: OrderRow,
  { before, edited, delta_cents, charges, tenders, stock }: EditFacts,
): EditPreview {
  const totals = edited?.totals ?? NOTHING_LEFT
  const stored = charges.find(({ vault_id }) => vault_id !== null)
  return {
    cancels: edited === null,
    items: before.map((item) => shownLine(item, edited, stock)),
    subtotal_cents: totals.subtotal_cents,
    discount_cents: totals.discount_cents,
    shipping_cents: totals.shipping_cents,
    tax_cents: totals.tax_cents,
    total_before_cents: total_cents,
    total_cents: totals.total_cents,
    prices_include_tax,
    currency,
    delta_cents,
    settlement: delta_cents === 0 ? 'none' : delta_cents > 0 ? 'charge' : 'refund',
    tenders: [...tenders],
    stored_card: stored === undefined ? null : (stored.card ?? UNKNOWN_CARD),
  }
}

function shownLine(
  item: OrderItem,
  edited: Edited | null,
  stock: EditFacts['stock'],
): EditPreview['items'][number] {
  const line = edited?.lines.find(({ id }) => id === item.id)
  const more = edited?.take.find(({ variant_id }) => variant_id === item.variant_id)?.quantity ?? 0
  return {
    order_item_id: item.id,
    quantity_before: item.quantity,
    quantity: line?.quantity ?? 0,
    line_total_cents: line?.line_total_cents ?? 0,
    discount_cents: line?.discount_cents ?? 0,
    shipping_cents: line?.shipping_cents ?? 0,
    tax_cents: line?.tax_cents ?? 0,
    available: more <= (stock.get(item.variant_id) ?? Number.POSITIVE_INFINITY),
  }
}
