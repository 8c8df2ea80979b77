import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as customers from '../customers/service.ts'
import type { OrderItem, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { knownAddress, requireServedCountry } from '../orders/ship-to.ts'
import { sendsTerms } from '../shipping/terms.ts'
import { saleTermsOf } from '../sites/sale-terms.ts'
import * as stores from '../stores/service.ts'
import type { Corrected, OrderCorrection } from './correct-schema.ts'
import type { OrderChangeDeps } from './deps.ts'
import { priceEdit } from './edit-pricing.ts'
import { refuse } from './errors.ts'
import type { EditedLine, NewTotals } from './queries.ts'
import { sumReserved } from './refund-queries.ts'

/** The changes of a correction, computed alike for its preview and for the correction. */

/** How the store reaches the shopper of an order. */
export interface Contact {
  ship_to: OrderRow['ship_to']
  email: string | null
  customer_name: string | null
}

export interface Correction {
  changed: Corrected[]
  /** Null if it is unchanged, and if the customer was erased in between. */
  contact: Contact | null
  /** Null if every part of the order costs the same as before. */
  priced: { lines: EditedLine[]; totals: NewTotals } | null
  delta_cents: number
}

export interface Planned {
  order: OrderRow
  items: OrderItem[]
  correction: Correction
}

/**
 * Plans a correction. A tax provider may be asked over the network, so no transaction may be open here. If the order
 * would cost something else, it is refused like an edit whenever its money cannot be changed.
 */
export async function planCorrection(
  deps: OrderChangeDeps,
  db: Db,
  id: string,
  body: OrderCorrection,
): Promise<Planned> {
  const order = await orders.get(db, id)
  requireKnown(order)
  requireFresh(order, body)
  const { pending } = await sumReserved(db, order.id)
  orders.requireAllowed(order, 'correct', pending)
  if (body.ship_to !== undefined) await requireServed(db, body.ship_to)
  const items = await orders.listItems(db, order.id)
  const correction = await priceCorrection(deps, db, { order, items, body })
  const { total_cents } = correction.priced?.totals ?? order
  if (body.expected_total_cents !== undefined && body.expected_total_cents !== total_cents) {
    const quoted_cents = body.expected_total_cents
    throw new ApiError('price_changed', { body: { quoted_cents, current_cents: total_cents } })
  }
  if (correction.priced !== null) orders.requireAllowed(order, 'edit', pending)
  return { order, items, correction }
}

/** Refuses an order whose person was erased: a correction would bring their data back. */
export function requireKnown({ customer_ref }: OrderRow): void {
  if (customers.isPseudonym(customer_ref)) throw refuse('customer_erased')
}

/** Refuses a correction that was based on an earlier state of the order. */
export function requireFresh(
  { updated_at }: OrderRow,
  { expected_updated_at: expected }: OrderCorrection,
): void {
  if (expected === undefined || Date.parse(expected) === Date.parse(updated_at)) return
  throw refuse('stale_order', { body: { updated_at } })
}

async function requireServed(db: Db, ship_to: { country: string }): Promise<void> {
  const { activeVersion } = await stores.get(db)
  const { countries } = await saleTermsOf(db, activeVersion)
  requireServedCountry('ship_to', ship_to, countries)
}

interface ToPrice {
  order: OrderRow
  items: OrderItem[]
  body: OrderCorrection
}

async function priceCorrection(
  deps: OrderChangeDeps,
  db: Db,
  { order, items, body }: ToPrice,
): Promise<Correction> {
  const contact: Contact = {
    ship_to: correctedAddress(order, body),
    email: body.email ?? order.email,
    customer_name: body.name ?? order.customer_name,
  }
  const changed: Corrected[] = changesOf(order, contact)
  const isPriced = sendsTerms(body) || body.tax != null
  if (!isMoved(contact.ship_to, order.ship_to) && !isPriced) {
    return { changed, contact: changed.length > 0 ? contact : null, priced: null, delta_cents: 0 }
  }
  const { lines, totals, delta_cents } = await priceEdit(
    db,
    deps.tax,
    { ...order, ship_to: contact.ship_to },
    { before: items, after: items, request: { ...body, edits: [] } },
  )
  if (totals.shipping_cents !== order.shipping_cents) changed.push('shipping')
  if (totals.tax_cents !== order.tax_cents) changed.push('tax')
  const isSame =
    totals.total_cents === order.total_cents &&
    totals.tax_cents === order.tax_cents &&
    totals.shipping_cents === order.shipping_cents &&
    isDeepStrictEqual(lines, items.map(pricedPart))
  return {
    changed,
    contact: changed.length > 0 ? contact : null,
    priced: isSame ? null : { lines, totals },
    delta_cents: isSame ? 0 : delta_cents,
  }
}

const pricedPart = (item: OrderItem): EditedLine => ({
  id: item.id,
  quantity: item.quantity,
  line_total_cents: item.line_total_cents,
  discount_cents: item.discount_cents,
  tax_cents: item.tax_cents,
  shipping_cents: item.shipping_cents,
})

/** The corrected address. If it is addressed to the person of the order, it takes over the corrected name. */
function correctedAddress(
  { ship_to, customer_name }: OrderRow,
  { ship_to: to, name }: OrderCorrection,
): OrderRow['ship_to'] {
  if (to !== undefined) return knownAddress(to)
  const isOwn = ship_to !== null && customer_name !== null && ship_to.name === customer_name
  return isOwn && name !== undefined ? { ...ship_to, name } : ship_to
}

/** Whether the goods go to another place, which may have another tax; a change of the name has none. */
const isMoved = (to: OrderRow['ship_to'], from: OrderRow['ship_to']): boolean =>
  !isDeepStrictEqual(placeOf(to), placeOf(from))

const placeOf = (to: OrderRow['ship_to']) => to && { ...addressOf(to), name: null }

function changesOf(order: OrderRow, { ship_to, email, customer_name }: Contact): Corrected[] {
  const changed: Corrected[] = []
  if (!isDeepStrictEqual(addressOf(ship_to), addressOf(order.ship_to))) changed.push('ship_to')
  if (email !== order.email) changed.push('email')
  if (customer_name !== order.customer_name) changed.push('name')
  return changed
}

/** An address in one form: members that a request may leave out are null. */
const addressOf = (to: OrderRow['ship_to']) =>
  to === null ? null : { ...to, name: to.name ?? null, line2: to.line2 ?? null }
