import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Answer } from '../../../harness/app.ts'
import { ORDERS, receive } from '../../purchasing/setup.ts'
import {
  ALL_VARIANTS,
  chosen,
  codeOf,
  levelAt,
  PLACES,
  type Purchase,
  type UnitModel,
  upTo,
} from './model.ts'

/** Steps of purchase orders. */

export async function purchase(model: UnitModel): Promise<void> {
  const place = upTo(model, 2)
  const wanted = ALL_VARIANTS.map((variant) => ({ variant, quantity: upTo(model, 8) })).filter(
    ({ quantity }) => quantity > 0,
  )
  if (wanted.length === 0) return
  const notes = randomUUID()
  const body = {
    vendor_id: model.vendor,
    location_id: PLACES[place],
    notes,
    lines: wanted.map(({ variant, quantity }) => ({
      variant_id: model.variants[variant],
      quantity,
      unit_cost_cents: upTo(model, 900),
    })),
  }
  const made = await model.settle(
    () => model.shop.merchant.post(ORDERS, body),
    () => findByNotes(model, notes),
  )
  assert.ok(made.status < 300, made.text)
  const { id, lines } = made.body.purchase_order
  const ordered = await act(model, id, 'order', 'ordered')
  assert.equal(ordered.status, 200, ordered.text)
  for (const { variant, quantity } of wanted) levelAt(model, variant, place).incoming += quantity
  model.purchases.push({
    id,
    place,
    isOpen: true,
    lines: wanted.map((each, at) => ({ ...each, id: lines[at].id, received: 0, rejected: 0 })),
  })
}

/** The newest purchase order, if its notes are these. */
async function findByNotes({ shop }: UnitModel, notes: string): Promise<Answer | null> {
  const listed = await shop.merchant.get(`${ORDERS}?limit=1`)
  if (listed.status !== 200) throw new Error(listed.text)
  const id = listed.body.purchase_orders[0]?.id
  const read = id === undefined ? null : await shop.merchant.get(`${ORDERS}/${id}`)
  if (read !== null && read.status !== 200) throw new Error(read.text)
  return read?.body.purchase_order.notes === notes ? read : null
}

/** Calls a verb of a purchase order, after which it has a state that it had not before. */
const act = ({ shop, settle }: UnitModel, id: string, verb: string, state: string) =>
  settle(
    () => shop.merchant.post(`${ORDERS}/${id}/${verb}`),
    async () => {
      const read = await shop.merchant.get(`${ORDERS}/${id}`)
      if (read.status !== 200) throw new Error(read.text)
      return read.body.purchase_order.status === state ? read : null
    },
  )

const expectedOf = ({ quantity, received, rejected }: Purchase['lines'][number]) =>
  quantity - received - rejected

export async function receiveSome(model: UnitModel): Promise<void> {
  const found = chosen(
    model,
    model.purchases.filter(({ isOpen }) => isOpen),
  )
  if (found === undefined) return
  const totals = found.lines.map((line) => ({
    line,
    received: line.received + upTo(model, 5) - (upTo(model, 20) === 0 ? 1 : 0),
    rejected: line.rejected + (upTo(model, 5) === 0 ? 1 : 0),
  }))
  const isBack = totals.some(({ line, received }) => received < line.received)
  const isOver = totals.some(({ line, received, rejected }) => received + rejected > line.quantity)
  const key = randomUUID()
  const lines = totals.map(({ line, received, rejected }) => ({
    line_id: line.id,
    quantity: Math.max(0, received),
    rejected_quantity: rejected,
  }))
  const answer = await model.settle(() => receive(model.shop.merchant, found.id, lines, key))
  const isNegative = totals.some(({ received }) => received < 0)
  const refusal = isBack && !isNegative ? 'receipt_decreased' : isOver ? 'exceeds_ordered' : 'done'
  assert.equal(codeOf(answer), refusal, answer.text)
  if (refusal !== 'done') return
  for (const { line, received, rejected } of totals) {
    const level = levelAt(model, line.variant, found.place)
    const before = expectedOf(line)
    level.on_hand += Math.max(0, received) - line.received
    line.received = Math.max(0, received)
    line.rejected = rejected
    level.incoming += expectedOf(line) - before
  }
  const isDone = found.lines.every((line) => expectedOf(line) === 0)
  if (isDone) found.isOpen = false
}

export async function endPurchase(model: UnitModel): Promise<void> {
  const found = chosen(
    model,
    model.purchases.filter(({ isOpen }) => isOpen),
  )
  if (found === undefined) return
  const hasCome = found.lines.some(({ received, rejected }) => received + rejected > 0)
  const isClosed = hasCome || upTo(model, 1) === 0
  const answer = await (isClosed
    ? act(model, found.id, 'close', 'closed_short')
    : act(model, found.id, 'cancel', 'cancelled'))
  assert.equal(answer.status, 200, answer.text)
  found.isOpen = false
  for (const line of found.lines) {
    levelAt(model, line.variant, found.place).incoming -= expectedOf(line)
  }
}
