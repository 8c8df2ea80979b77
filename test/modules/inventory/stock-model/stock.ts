import assert from 'node:assert/strict'
import {
  availableOf,
  BOTH,
  codeOf,
  holdIfSuspect,
  isEditable,
  type Model,
  type Order,
  reservedBy,
  variantAt,
} from './model.ts'
import { add, apply, checkOut, sendEdit } from './orders.ts'
import type { Step } from './sequences.ts'

/** Steps of the stock itself, and a rush of shoppers for the last units. */

export async function count(
  model: Model,
  step: { variant: number; track: boolean; backorder: boolean },
): Promise<void> {
  const chosen = variantAt(model, step.variant)
  chosen.isTracked = step.track
  chosen.mayBackorder = step.backorder
  const settings = { track_inventory: step.track, allow_backorder: step.backorder }
  const answer = await model.shop.merchant.put(`/v1/merchant/inventory/${chosen.id}`, settings)
  assert.equal(answer.status, 200, answer.text)
}

export async function adjust(
  model: Model,
  step: Omit<Extract<Step, { do: 'adjust' }>, 'do'>,
): Promise<void> {
  const { id, on_hand } = variantAt(model, step.variant)
  const at = step.isOther ? 1 : 0
  const units = step.by === 'delta' ? step.units : Math.abs(step.units)
  const after = step.by === 'delta' ? on_hand[at] + units : units
  const answer = await model.shop.merchant.post(`/v1/merchant/inventory/${id}/adjust`, {
    reason: 'counted',
    [step.by]: units,
    ...(step.isOther && { location_id: model.other }),
  })
  const isClosed = step.isOther && !model.isOtherOpen
  const refusal = after < 0 ? 'stock_below_zero' : 'done'
  assert.equal(codeOf(answer), isClosed ? 'location_not_found' : refusal, answer.text)
  if (answer.status < 300) on_hand[at] = after
}

export async function archive(model: Model, at: number): Promise<void> {
  const chosen = variantAt(model, at)
  const url = `/v1/merchant/catalog/products/${chosen.product_id}/variants/${chosen.id}/archive`
  const answer = await model.shop.merchant.post(url)
  assert.equal(answer.status, 200, answer.text)
  chosen.isArchived = true
}

export async function closeOther(model: Model): Promise<void> {
  const { rows } = await model.app.superuser.query(
    `select from inventory_levels
      where location_id = $1 and (on_hand <> 0 or allocated > 0 or reserved > 0)`,
    [model.other],
  )
  const url = `/v1/merchant/inventory/locations/${model.other}`
  const answer = await model.shop.merchant.send('DELETE', url)
  assert.equal(codeOf(answer), rows.length > 0 ? 'location_in_use' : 'done', answer.text)
  if (rows.length === 0) model.isOtherOpen = false
}

/**
 * New shoppers and editors of open orders want one more unit at once: as many get it as are
 * available.
 */
export async function rush(
  model: Model,
  { variant: at, shoppers }: { variant: number; shoppers: number },
) {
  const one = BOTH.map((each) => (each === at ? 1 : 0))
  const canGrow = (order: Order) => isEditable(order) && order.items[at] !== undefined
  const editors = model.orders.filter(canGrow).slice(-2)
  const edited = editors.map((order) => order.wanted.map((units, each) => units + (one[each] ?? 0)))
  const available = availableOf(model, at)
  const { isArchived } = variantAt(model, at)
  const [answers, edits] = await Promise.all([
    Promise.all(Array.from({ length: shoppers }, () => checkOut(model, one, 'approved', false))),
    Promise.all(editors.map((order, n) => sendEdit(model, order, edited[n] ?? [], 'approved'))),
  ])
  const won = [...answers, ...edits].filter(({ status }) => status < 300)
  const asking = editors.length + (isArchived ? 0 : shoppers)
  assert.equal(won.length, Math.min(asking, available), `${won.length} won`)
  for (const answer of answers) {
    if (answer.status < 300) {
      await add(model, answer, { wanted: one, card: 'approved', isOnHold: false })
    } else assert.equal(codeOf(answer), isArchived ? 'variant_not_found' : 'insufficient_stock')
  }
  for (const [n, answer] of edits.entries()) {
    const [order, wanted] = [editors[n], edited[n]]
    if (answer.status < 300 && order && wanted) {
      apply(order, wanted, reservedBy(model, one))
      holdIfSuspect(order)
    } else assert.equal(codeOf(answer), 'insufficient_stock', answer.text)
  }
}
