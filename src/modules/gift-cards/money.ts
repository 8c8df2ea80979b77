import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import { AMOUNT_CENTS_MAX } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { readExpiry } from '../../platform/expiry.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as entitlements from '../entitlements/service.ts'
import * as ledger from '../ledger/money.ts'
import type { Hold } from '../ledger/schema.ts'
import * as stores from '../stores/service.ts'
import { type CodeKeys, encryptCode, generateCode, hashCode, parseCode } from './card-code.ts'
import { giftCardIssued } from './events.ts'
import * as queries from './queries.ts'
import type { Adjustment, CardRow, GiftCard, NewBatch, NewGiftCard } from './schema.ts'
import { FEATURE, getLocked, insufficient, isUsable, refuseState } from './service.ts'

/** The actor of holds and captures, which an order causes. */
const ORDER = 'order'

/** The caller of an operation, with its claim on the idempotency key. */
export interface Caller {
  actor: audit.Actor
  claim: idempotency.WonClaim
}

/** Issues a card. The answer is stored without the code, which `showCodes` fills in. */
export function issue(db: TenantDb, keys: CodeKeys, caller: Caller, request: NewGiftCard) {
  return db.transaction('gift cards: issue', async (tx) => {
    const [gift_card] = await issueCards(tx, keys, caller.actor, { ...request, count: 1 })
    return answer(tx, caller, 201, { gift_card, code: null })
  })
}

/** Issues a batch of equal cards: all of them or none. */
export function issueBatch(db: TenantDb, keys: CodeKeys, caller: Caller, request: NewBatch) {
  return db.transaction('gift cards: issue a batch', async (tx) => {
    const cards = await issueCards(tx, keys, caller.actor, request)
    return answer(tx, caller, 201, { gift_cards: cards.map((card) => ({ ...card, code: null })) })
  })
}

const answer = (tx: Tx, { claim }: Caller, status: number, body: object) =>
  idempotency.finish(tx, claim, status, JSON.stringify(body))

async function issueCards(
  tx: Tx,
  keys: CodeKeys,
  actor: audit.Actor,
  request: NewGiftCard & NewBatch,
): Promise<GiftCard[]> {
  await entitlements.requireFeature(tx, FEATURE)
  const expires_at = readExpiry(tx.clock, request.expires_at)
  const { initial_balance_cents: cents, count } = request
  const currency =
    request.currency === undefined
      ? await stores.lockCurrency(tx)
      : stores.checkCurrency(request.currency)
  const rows = Array.from({ length: count }, () => newCard(keys, tx.tenant))
  const ids = rows.map(({ id }) => id)
  const cards = await queries.insertCards(tx, rows, {
    initial_balance_cents: cents,
    currency,
    expires_at,
    note: request.note ?? null,
    recipient_email: request.recipient_email ?? null,
    customer_ref: request.customer_ref ?? null,
  })
  await Promise.all([
    queries.logTransaction(tx, ids, {
      type: 'credit',
      event: 'issue',
      amount_cents: cents,
      actor: actor.name,
    }),
    ledger.postAll(
      tx,
      ids.map((id) => balanceJournal('gift_card.issued', { id, currency }, cents)),
    ),
    audit.record(tx, actor, {
      action: 'gift_card.issued',
      entity: count === 1 ? `gift_card:${ids[0]}` : 'gift_cards',
      after: { count, initial_balance_cents: cents, currency },
    }),
    ...cards.map((card) => emitIssued(tx, card)),
  ])
  return cards
}

export function emitIssued(tx: Tx, { id, code_last4, initial_balance_cents, ...card }: GiftCard) {
  const { currency, expires_at, customer_ref, issued_order_id: order_id, send_at } = card
  const gift_card = {
    id,
    code_last4,
    initial_balance_cents,
    currency,
    expires_at,
    customer_ref,
    has_recipient: card.recipient_email !== null,
    order_id,
    send_at,
  }
  return giftCardIssued.emit(tx, { gift_card }, { customer_ref, order_id })
}

export function newCard(keys: CodeKeys, tenant: string): CardRow {
  const code = generateCode()
  return {
    id: newId(),
    code_hmac: hashCode(keys, tenant, code),
    code_last4: code.slice(-4),
    code_sealed: encryptCode(keys, tenant, code),
  }
}

/** The journal of a balance that changes by an amount: what the store owes to the card's holder. */
const balanceJournal = (
  kind: string,
  { id, currency }: Pick<GiftCard, 'id' | 'currency'>,
  by: number,
) => ({
  kind,
  currency,
  ref: id,
  entries: [
    { account: 'gift_card' as const, ref: id, amount_cents: -by },
    { account: 'suspense' as const, amount_cents: by },
  ],
})

/** Changes a balance for a merchant. It cannot go below the amount that orders hold. */
export function adjust(
  db: TenantDb,
  caller: Caller,
  id: string,
  { delta_cents, reason }: Adjustment,
) {
  return db.transaction('gift cards: adjust', async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    const card = await getLocked(tx, id)
    if (card.status === 'expired' || card.refund_pending) throw refuseState(card, [])
    if (card.balance_cents - card.held_cents + delta_cents < 0) throw insufficient(card)
    if (card.balance_cents + delta_cents > AMOUNT_CENTS_MAX) {
      throw new ApiError('balance_limit_exceeded')
    }
    const after = await queries.addBalance(tx, card.id, delta_cents)
    await Promise.all([
      queries.logTransaction(tx, [card.id], {
        type: delta_cents > 0 ? 'credit' : 'debit',
        event: 'adjustment',
        amount_cents: Math.abs(delta_cents),
        reason,
        actor: caller.actor.name,
      }),
      ledger.post(tx, balanceJournal('gift_card.adjusted', card, delta_cents)),
      audit.record(tx, caller.actor, {
        action: 'gift_card.adjusted',
        entity: `gift_card:${card.id}`,
        before: { balance_cents: card.balance_cents },
        after: { balance_cents: after.balance_cents },
      }),
    ])
    return answer(tx, caller, 200, { gift_card: after })
  })
}

interface HoldRequest {
  code: string
  currency: string
  most_cents: number
  order_id: string
}

/**
 * Holds as much of a card for an order as is available, up to `most_cents`. A card that cannot be used
 * is refused, without a reason. An empty card holds nothing.
 */
export async function holdUpTo(tx: Tx, keys: Pick<CodeKeys, 'lookup'>, request: HoldRequest) {
  const { currency, most_cents, order_id } = request
  const code = parseCode(request.code)
  const card = code === null ? null : await queries.lockByCode(tx, hashCode(keys, tx.tenant, code))
  if (!isUsable(card) || card.currency !== currency) throw new ApiError('gift_card_invalid')
  const { id, code_last4: last4 } = card
  const amount_cents = Math.max(0, Math.min(card.balance_cents - card.held_cents, most_cents))
  if (amount_cents > 0) {
    await Promise.all([
      queries.addHeld(tx, id, amount_cents),
      ledger.hold(tx, { account: 'gift_card', ref: id, currency, amount_cents, order_id }),
      logOrder(tx, { ref: id, amount_cents, order_id }, 'hold'),
    ])
  }
  return { gift_card_id: id, last4, amount_cents }
}

const logOrder = (
  tx: Tx,
  { ref, amount_cents, order_id }: Pick<Hold, 'ref' | 'amount_cents' | 'order_id'>,
  type: 'hold' | 'capture' | 'void',
) =>
  queries.logTransaction(tx, [ref], { type, event: 'order', amount_cents, order_id, actor: ORDER })

/** The amount that was captured from, or released to, a card. */
export interface ClosedHold {
  gift_card_id: string
  amount_cents: number
}

/** Captures the hold of an order; the order's journal books it. It may be repeated. */
export async function captureHold(
  tx: Tx,
  { order_id }: { order_id: string },
): Promise<ClosedHold[]> {
  const holds = await ledger.closeHolds(tx, { order_id, to: 'posted', account: 'gift_card' })
  for (const each of holds) {
    await Promise.all([
      queries.captureHeld(tx, each.ref, each.amount_cents),
      logOrder(tx, each, 'capture'),
    ])
  }
  return holds.map(closed)
}

/** Releases the hold of an order. It may be repeated, and does nothing after a capture. */
export async function releaseHold(
  tx: Tx,
  { order_id }: { order_id: string },
): Promise<ClosedHold[]> {
  const holds = await ledger.closeHolds(tx, { order_id, to: 'voided', account: 'gift_card' })
  for (const each of holds) {
    await Promise.all([
      queries.releaseHeld(tx, each.ref, each.amount_cents),
      logOrder(tx, each, 'void'),
    ])
  }
  return holds.map(closed)
}

const closed = ({ ref, amount_cents }: Hold): ClosedHold => ({ gift_card_id: ref, amount_cents })

interface Refund {
  gift_card_id: string
  amount_cents: number
  order_id: string
  actor: Pick<audit.Actor, 'name'>
}

/**
 * Adds a refund to the card that paid; the refund's journal books it. A card that cannot be used any more
 * is not credited: the refund then needs store credit.
 */
export async function credit(tx: Tx, refund: Refund): Promise<'gift_card' | 'store_credit_needed'> {
  const { gift_card_id: id, amount_cents, order_id, actor } = refund
  const card = await queries.lockCard(tx, id)
  if (!isUsable(card)) return 'store_credit_needed'
  await Promise.all([
    queries.addBalance(tx, id, amount_cents),
    queries.logTransaction(tx, [id], {
      type: 'credit',
      event: 'refund',
      amount_cents,
      order_id,
      actor: actor.name,
    }),
  ])
  return 'gift_card'
}

/** Books the rest of an expired card as breakage. An amount that an order holds stays for the order. */
export async function expire(tx: Tx, card: GiftCard): Promise<void> {
  const cents = card.balance_cents - card.held_cents
  await queries.expireCard(tx, card.id)
  if (cents === 0) return
  await Promise.all([
    queries.logTransaction(tx, [card.id], {
      type: 'expire',
      event: 'expiration',
      amount_cents: cents,
      actor: audit.SYSTEM.name,
    }),
    ledger.post(tx, {
      kind: 'gift_card.expired',
      currency: card.currency,
      ref: card.id,
      entries: [
        { account: 'gift_card', ref: card.id, amount_cents: cents },
        { account: 'breakage', amount_cents: -cents },
      ],
    }),
  ])
}
