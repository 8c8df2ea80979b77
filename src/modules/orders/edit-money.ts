import { randomUUID } from 'node:crypto'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as inventory from '../inventory/money.ts'
import * as ledger from '../ledger/money.ts'
import type { NewJournal } from '../ledger/schema.ts'
import type { GatewayName, GatewayResult } from '../payments/schema.ts'
import type { Source } from '../payments/service.ts'
import * as payments from '../payments/service.ts'
import * as webhooks from '../webhooks/service.ts'
import { CANCELLING, cancel, resumeCancel } from './cancel-money.ts'
import type { MerchantEdit, ShopperEdit } from './change-schema.ts'
import { type Edited, isSame, priceEdit, withQuantities } from './edit-plan.ts'
import { promise, type Settled, settle } from './give-back-money.ts'
import { insertNote } from './note-queries.ts'
import * as operations from './operation-queries.ts'
import {
  type Asked,
  actorOf,
  busy,
  isShopper,
  occupy,
  type Plan,
  planOf,
  requireFree,
  vacate,
} from './operations.ts'
import { captureCharge, insertCharges, insertTimeline, listCharges, listItems } from './queries.ts'
import { failure } from './refund-money.ts'
import { less, partsOf, splitOverTenders } from './refund-plan.ts'
import * as refunds from './refund-queries.ts'
import type { ChargeRow, OrderRow } from './schema.ts'
import {
  change,
  factsOf,
  forMerchant,
  forShopper,
  get,
  lock,
  requireAllowed,
  shownCharge,
} from './service.ts'
import { allowedActions } from './status.ts'
import {
  askBack,
  leave,
  type OrderDeps,
  recall,
  recallBack,
  unknownOf,
  type Word,
  wordOf,
} from './words.ts'

/**
 * Changes what an order holds, in one act: priced again, the difference charged or given back, stock
 * moved. Stock that is missing is taken first; only when the money has moved the order changes, and
 * when it has not, everything is as before.
 */

const EDITING = 'editing'

/** What is to be charged for it, if that becomes necessary: a card in hand, or the one that was kept. */
export type Funds = { by: 'card'; source: Source | null } | { by: 'vault'; allowed: boolean }

export interface EditWish {
  body: ShopperEdit | MerchantEdit
  funds: Funds
  note: string | null
}

interface NewCard {
  attempt_id: string
  gateway: GatewayName
  amount_cents: number
  card_brand: string | null
  card_last4: string | null
  card_fingerprint: string | null
}

interface EditPlan extends Plan, Edited {
  kind: 'edit'
  note: string | null
  refund_id: string | null
  charge: NewCard | null
  take_id: string
  give_id: string
  undo_id: string
}

export async function edit(
  deps: OrderDeps,
  db: TenantDb,
  asked: Asked,
  orderId: string,
  wish: EditWish,
): Promise<idempotency.Answer> {
  const { claim } = asked
  if (claim.recoveryPoint !== idempotency.STARTED) return resumeEdit(deps, db, claim)
  const order = await get(db, orderId)
  const before = await listItems(db, order.id)
  const after = withQuantities(before, wish.body)
  if (after === null) {
    const reason = isShopper(actorOf(asked.actor)) ? 'customer' : 'staff'
    return cancel(deps, db, asked, orderId, { reason, note: wish.note, restock: true, as: 'edit' })
  }
  requireFree(order)
  requireAllowed(order, 'edit')
  requirePaid(order)
  const edited = await priceEdit(db, deps.tax, order, { before, after, wish: wish.body })
  const begun = await db.transaction('orders: begin an edit', async (tx) => {
    const locked = await lock(tx, order.id)
    if (!(await isSame(tx, order, locked, before))) throw busy()
    const source = await begin(tx, deps, locked, { edited, wish, actor: actorOf(asked.actor) })
    return { source, held: await idempotency.advance(tx, claim, EDITING, order.id) }
  })
  await deps.at?.('edit-begun')
  return conclude(deps, db, begun.held, begun.source)
}

/** Ends an edit that somebody left: the same way, by the gateways' own records. */
export const resumeEdit = (
  deps: OrderDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
): Promise<idempotency.Answer> =>
  claim.recoveryPoint === CANCELLING
    ? resumeCancel(deps, db, claim)
    : conclude(deps, db, claim, 'left')

/** What is only authorised can be taken or let go of, and not changed. */
function requirePaid(order: OrderRow): void {
  if (order.placed_at !== null) return
  const allowed = allowedActions(factsOf(order)).allowed.filter((each) => each !== 'edit')
  throw new ApiError('invalid_transition', {
    body: { current_status: order.status, allowed, reason: 'not_captured' },
  })
}

/** Takes the order and the stock, and promises or prepares what is given back or charged. */
async function begin(
  tx: Tx,
  deps: OrderDeps,
  order: OrderRow,
  { edited, wish, actor }: { edited: Edited; wish: EditWish; actor: string },
): Promise<Source | null> {
  const [charges, promised] = await Promise.all([
    listCharges(tx, order.id),
    refunds.sumPromised(tx, order.id),
  ])
  requireFree(order, promised.pending)
  requireAllowed(order, 'edit')
  requireCharge(charges, wish.body.charge_id)
  const { delta_cents, take } = edited
  const plan: EditPlan = {
    ...edited,
    ...{ id: randomUUID(), kind: 'edit', actor, note: wish.note, refund_id: null, charge: null },
    ...{ take_id: randomUUID(), give_id: randomUUID(), undo_id: randomUUID() },
  }
  const as = 'allocated'
  if (take.length > 0) {
    await inventory.adjustOrder(tx, order.id, take, { change_id: plan.take_id, as })
  }
  if (delta_cents < 0) {
    plan.refund_id = await promise(tx, order, charges, {
      kind: 'adjustment',
      method: 'original',
      parts: less(partsOf(order), partsOf({ ...order, ...edited.totals })),
      tenders: splitOverTenders(charges, -delta_cents, 'original'),
      reason: null,
      actor,
    })
  }
  const source = delta_cents > 0 ? sourceOf(charges, wish, delta_cents) : null
  if (source !== null) plan.charge = await beginCharge(tx, deps, order, source, delta_cents)
  await occupy(tx, order, plan)
  return source
}

function requireCharge(charges: readonly ChargeRow[], charge_id: string | null | undefined): void {
  if (!charge_id || charges.some((each) => each.charge_id === charge_id.toLowerCase())) return
  throw new ApiError('charge_not_found')
}

/** A shopper sends a card. A merchant may charge the one that was kept, and must say so. */
function sourceOf(
  charges: readonly ChargeRow[],
  { funds, body }: EditWish,
  amount_due_cents: number,
): Source {
  if (funds.by === 'card' && funds.source !== null) return funds.source
  const named = body.charge_id?.toLowerCase()
  const kept = charges.find(
    ({ charge_id, vault_id }) => vault_id !== null && (!named || named === charge_id),
  )
  if (funds.by === 'vault' && funds.allowed && kept?.vault_id) {
    return { vault_id: kept.vault_id, initial_txn_id: kept.txn_id }
  }
  throw new ApiError('card_required', { body: { amount_due_cents } })
}

async function beginCharge(
  tx: Tx,
  deps: OrderDeps,
  order: OrderRow,
  source: Source,
  amount_cents: number,
): Promise<NewCard> {
  const gateway = (await deps.payments.forStore(tx)).name
  const attempt_id = randomUUID()
  const card = 'card' in source ? source.card : null
  await payments.beginAttempt(tx, {
    id: attempt_id,
    order_id: order.id,
    kind: 'edit',
    gateway,
    amount_cents,
    currency: order.currency,
    charge_id: attempt_id,
  })
  return {
    ...{ attempt_id, gateway, amount_cents },
    card_brand: card?.brand ?? null,
    card_last4: card?.last4 ?? null,
    card_fingerprint: card?.fingerprint(deps.keys.fingerprint) ?? null,
  }
}

async function conclude(
  deps: OrderDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
  source: Source | null | 'left',
): Promise<idempotency.Answer> {
  const order = await get(db, claim.resourceId ?? '')
  const heard = await hear(deps, db, order, source)
  const words = [...heard.words.values(), ...(heard.charged === null ? [] : [heard.charged])]
  const unknown = unknownOf(words)
  if (unknown.length > 0) return leave(deps, db, claim, order, unknown, source !== 'left')
  await deps.at?.('edit-answered')
  return db.transaction('orders: edit', (tx) => end(tx, claim, order.id, heard))
}

interface Heard {
  charges: ChargeRow[]
  /** To what is given back. */
  words: Map<string, Word>
  /** To what is charged. */
  charged: Word | null
}

async function hear(
  deps: OrderDeps,
  db: Db,
  order: OrderRow,
  source: Source | null | 'left',
): Promise<Heard> {
  const { refund_id, charge } = requirePlan(order)
  const charges = await listCharges(db, order.id)
  const refund = refund_id === null ? null : await refunds.findRefund(db, refund_id)
  const ask = source === 'left' ? recallBack : askBack
  const words = refund === null ? new Map<string, Word>() : await ask(deps, db, refund, charges)
  if (charge === null) return { charges, words, charged: null }
  if (source === 'left' || source === null) {
    return { charges, words, charged: await recall(deps, db, charge.attempt_id) }
  }
  return { charges, words, charged: await take(deps, db, order, charge, source) }
}

function requirePlan(order: OrderRow): EditPlan {
  const plan = planOf<EditPlan>(order, 'edit')
  if (plan === null) throw new Error('nothing is being edited')
  return plan
}

async function take(
  deps: OrderDeps,
  db: Db,
  order: OrderRow,
  { attempt_id, gateway: name, amount_cents }: NewCard,
  source: Source,
): Promise<Word> {
  const gateway = await deps.payments.forStore(db, name)
  const { id: order_id, order_number, currency, email, ip, ship_to } = order
  const charge = {
    ref: attempt_id,
    amount_cents,
    currency,
    order_id,
    order_number,
    email,
    ip,
    ship_to,
  }
  await deps.at?.('edit-sent')
  const result =
    'vault_id' in source
      ? await gateway.vaultCharge({ ...charge, ...source })
      : await gateway.sale({ ...charge, source })
  return wordOf(attempt_id, result)
}

/** Makes the edit true, or leaves the order as it was. */
async function end(
  tx: Tx,
  claim: idempotency.WonClaim,
  orderId: string,
  heard: Heard,
): Promise<idempotency.Answer> {
  const order = await lock(tx, orderId)
  const plan = requirePlan(order)
  await vacate(tx, order, plan)
  const words = [...heard.words.values(), ...(heard.charged === null ? [] : [heard.charged])]
  const isRefused = words.some(({ kind }) => kind !== 'approved')
  await moveStock(tx, order, plan, isRefused)
  const refund = plan.refund_id === null ? null : await refunds.findRefund(tx, plan.refund_id)
  const given = refund && (await settle(tx, order, refund, heard.charges, heard.words))
  if (given?.state === 'failed') return idempotency.refuse(tx, claim, failure(given))
  const charged = await closeCharge(tx, heard.charged)
  if (charged === 'refused') return refuseCharge(tx, claim, order, plan, heard.charged)
  return apply(tx, claim, order, plan, given, charged)
}

/** What more was wanted has been taken already: it is given back where nothing comes of it. */
async function moveStock(tx: Tx, order: OrderRow, plan: EditPlan, isRefused: boolean) {
  const { take: taken, give, give_id, undo_id } = plan
  const undone = taken.map(({ variant_id, quantity }) => ({ variant_id, quantity: -quantity }))
  const deltas = isRefused ? undone : give
  if (deltas.length === 0) return
  const change_id = isRefused ? undo_id : give_id
  await inventory.adjustOrder(tx, order.id, deltas, { change_id, as: 'allocated' })
}

async function closeCharge(tx: Tx, word: Word | null): Promise<GatewayResult | 'refused' | null> {
  if (word === null || word.kind === 'unknown') return null
  if (word.kind === 'lost') await payments.markNotFound(tx, word.attempt_id)
  else await payments.closeAttempt(tx, word.attempt_id, word.result)
  return word.kind === 'approved' ? word.result : 'refused'
}

/** What a shopper may be told of why. */
const SHOWN: readonly string[] = [
  'card_declined',
  'insufficient_funds',
  'card_not_supported',
  'expired_card',
  'incorrect_cvv',
]

async function refuseCharge(
  tx: Tx,
  claim: idempotency.WonClaim,
  order: OrderRow,
  { actor, delta_cents }: EditPlan,
  word: Word | null,
): Promise<idempotency.Answer> {
  const result = word?.kind === 'refused' ? word.result : null
  const told = result?.reason ?? ''
  const reason = SHOWN.includes(told) ? told : 'processing_error'
  const data = { amount_cents: delta_cents, reason }
  await insertTimeline(tx, order.id, { type: 'edit_declined', actor, data })
  const { id, order_number, status } = order
  const decline = { reason, retryable: result?.retryable ?? true }
  return idempotency.refuse(
    tx,
    claim,
    new ApiError('payment_declined', { body: { decline, order: { id, order_number, status } } }),
  )
}

async function apply(
  tx: Tx,
  claim: idempotency.WonClaim,
  before: OrderRow,
  plan: EditPlan,
  given: Extract<Settled, { state: 'succeeded' }> | null,
  charged: GatewayResult | null,
): Promise<idempotency.Answer> {
  const { actor, delta_cents, note, charge } = plan
  await Promise.all([
    operations.writeLines(tx, plan.lines),
    operations.writeTotals(tx, before.id, plan.totals),
    charge !== null && insertCharges(tx, before.id, [cardCharge(before, charge, charged)]),
  ])
  if (charge !== null) {
    const { txn_id = null, vault_id = null } = charged ?? {}
    const captured = { captured_cents: charge.amount_cents, txn_id, vault_id }
    await captureCharge(tx, charge.attempt_id, captured)
  }
  const captured_cents = before.captured_cents + delta_cents
  const order = await change(tx, await lock(tx, before.id), { captured_cents })
  const [items, charges] = await Promise.all([
    listItems(tx, order.id),
    listCharges(tx, order.id),
    note !== null && insertNote(tx, order.id, { note, actor }),
    ledger.post(tx, journalOf(before, plan, given?.entries ?? [])),
    insertTimeline(tx, order.id, { type: 'edited', actor, data: changesOf(before, plan) }),
    webhooks.emit(tx, {
      type: 'commerce.order.edited.v1',
      order_id: order.id,
      customer_ref: order.customer_ref,
      data: { order: forMerchant(order), ...changesOf(before, plan) },
    }),
  ])
  const added = charges.find(({ charge_id }) => charge_id === charge?.attempt_id)
  const body = {
    order: isShopper(actor) ? forShopper(order) : forMerchant(order),
    items,
    charge: added === undefined ? null : shownCharge(added),
    refund: given?.refund ?? null,
    delta_cents,
  }
  return idempotency.finish(tx, claim, 200, JSON.stringify(body))
}

const cardCharge = (
  { currency }: OrderRow,
  { attempt_id, gateway, amount_cents, card_brand, card_last4, card_fingerprint }: NewCard,
  charged: GatewayResult | null,
) => ({
  ...{ charge_id: attempt_id, tender: 'card' as const, amount_cents, currency, gateway },
  card_brand: card_brand ?? charged?.card?.brand ?? null,
  card_last4: card_last4 ?? charged?.card?.last4 ?? null,
  card_fingerprint,
})

const changesOf = (before: OrderRow, { delta_cents, lines, totals }: EditPlan) => ({
  delta_cents,
  total_before_cents: before.total_cents,
  total_cents: totals.total_cents,
  lines: lines.map(({ id, quantity }) => ({ order_item_id: id, quantity })),
})

/** The difference between two sales, and the money that made up for it. */
function journalOf(
  before: OrderRow,
  { totals, charge, id }: EditPlan,
  given: NewJournal['entries'],
): NewJournal {
  const more = (name: 'subtotal_cents' | 'discount_cents' | 'shipping_cents' | 'tax_cents') =>
    totals[name] - before[name]
  return {
    kind: 'order.edited',
    currency: before.currency,
    order_id: before.id,
    ref: id,
    entries: [
      { account: 'card_clearing', amount_cents: charge?.amount_cents ?? 0 },
      ...given,
      { account: 'sales', amount_cents: -more('subtotal_cents') },
      { account: 'discount', amount_cents: more('discount_cents') },
      { account: 'shipping_income', amount_cents: -more('shipping_cents') },
      { account: 'tax_payable', amount_cents: -more('tax_cents') },
    ],
  }
}
