import { randomUUID } from 'node:crypto'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as inventory from '../inventory/money.ts'
import type { GatewayName } from '../payments/schema.ts'
import type { Source } from '../payments/service.ts'
import * as payments from '../payments/service.ts'
import { requireAdmitted, weighFailure } from './admission.ts'
import { CANCELLING, cancel, resumeCancel } from './cancel-money.ts'
import type { MerchantEdit, ShopperEdit } from './change-schema.ts'
import { type EditPlan, end, type Heard, type NewCard, requirePlan } from './edit-end-money.ts'
import { type Edited, isSame, priceEdit, withQuantities } from './edit-plan.ts'
import { gatewayOf, promise } from './give-back-money.ts'
import { type Asked, actorOf, busy, isShopper, occupy, requireCharge } from './operations.ts'
import { listCharges, listItems } from './queries.ts'
import { less, partsOf, splitOverTenders } from './refund-plan.ts'
import * as refunds from './refund-queries.ts'
import type { ChargeRow, OrderRow } from './schema.ts'
import { get, lock, requireAllowed } from './service.ts'
import {
  askBack,
  leave,
  type OrderDeps,
  recallBack,
  recallCharge,
  unknownOf,
  type Word,
  whileHeld,
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
  const requireSame = async (tx: Tx, locked: OrderRow) => {
    if (!(await isSame(tx, order, locked, before))) throw busy()
  }
  if (after === null) {
    const { note } = wish
    const { charge_id } = wish.body
    const reason = isShopper(actorOf(asked.actor)) ? 'customer' : 'staff'
    const rest = { note, charge_id, restock: true, as: 'edit', also: requireSame } as const
    return cancel(deps, db, asked, orderId, { reason, ...rest })
  }
  requireAllowed(order, 'edit')
  const edited = await priceEdit(db, deps.tax, order, { before, after, wish: wish.body })
  const { funds } = wish
  const isCharged = edited.delta_cents > 0 && funds.by === 'card'
  const ban_ids =
    isCharged && funds.source !== null ? await requireAdmitted(deps, db, order, funds.source) : []
  const begun = await db.transaction('orders: begin an edit', async (tx) => {
    const locked = await lock(tx, order.id)
    await requireSame(tx, locked)
    const actor = actorOf(asked.actor)
    const source = await begin(tx, deps, locked, { edited, wish, actor, ban_ids })
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

interface Begun {
  edited: Edited
  wish: EditWish
  actor: string
  ban_ids: string[]
}

/** Takes the order and the stock, and promises or prepares what is given back or charged. */
async function begin(
  tx: Tx,
  deps: OrderDeps,
  order: OrderRow,
  { edited, wish, actor, ban_ids }: Begun,
): Promise<Source | null> {
  const [charges, promised] = await Promise.all([
    listCharges(tx, order.id),
    refunds.sumPromised(tx, order.id),
  ])
  requireAllowed(order, 'edit', promised.pending)
  requireCharge(charges, wish.body.charge_id)
  const { delta_cents, take } = edited
  const plan: EditPlan = {
    ...edited,
    ...{ id: randomUUID(), kind: 'edit', actor, note: wish.note, refund_id: null, charge: null },
    ban_ids,
  }
  if (take.length > 0) await inventory.reserveMore(tx, order.id, take, plan.id)
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
  const charged = delta_cents > 0 ? chargedOf(charges, wish, delta_cents) : null
  if (charged !== null) plan.charge = await beginCharge(tx, deps, order, charged, delta_cents)
  await occupy(tx, order, plan)
  return charged?.source ?? null
}

interface Charged {
  source: Source
  /** Where the card was kept: no other gateway knows it. A new one goes to the store's own. */
  gateway?: GatewayName
}

const SAY_SO = 'The edit raises the total. Send `charge_card: true` to charge the stored card.'
const NONE_KEPT =
  'The edit raises the total, and no card is stored for the order. Let the shopper make the edit.'

/** A shopper sends a card. A merchant may charge the one that was kept, and must say so. */
function chargedOf(
  charges: readonly ChargeRow[],
  { funds, body }: EditWish,
  amount_due_cents: number,
): Charged {
  if (funds.by === 'card' && funds.source !== null) return { source: funds.source }
  const named = body.charge_id?.toLowerCase()
  const kept = charges.find(
    ({ charge_id, vault_id }) => vault_id !== null && (!named || named === charge_id),
  )
  if (funds.by === 'vault' && funds.allowed && kept?.vault_id) {
    const source = { vault_id: kept.vault_id, initial_txn_id: kept.txn_id }
    return { source, gateway: gatewayOf(kept) }
  }
  const message = funds.by === 'vault' ? (kept ? SAY_SO : NONE_KEPT) : undefined
  throw new ApiError('card_required', { ...(message && { message }), body: { amount_due_cents } })
}

async function beginCharge(
  tx: Tx,
  deps: OrderDeps,
  order: OrderRow,
  { source, gateway: keptBy }: Charged,
  amount_cents: number,
): Promise<NewCard> {
  const gateway = keptBy ?? (await deps.payments.forStore(tx)).name
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
  const heard = await hear(whileHeld(deps, db, claim), db, order, source)
  const words = [...heard.words.values(), ...(heard.charged === null ? [] : [heard.charged])]
  const unknown = unknownOf(words)
  if (unknown.length > 0) return leave(deps, db, claim, order, unknown, source !== 'left')
  await deps.at?.('edit-answered')
  const answer = await db.transaction('orders: edit', (tx) => end(tx, claim, order.id, heard))
  const { charge } = requirePlan(order)
  if (charge !== null && heard.charged?.kind === 'refused')
    await weighFailure(deps, db, order, charge)
  return answer
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
    return { charges, words, charged: await recallCharge(deps, db, charge.attempt_id) }
  }
  return { charges, words, charged: await take(deps, db, order, charge, source) }
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
