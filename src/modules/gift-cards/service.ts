import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { readExpiry } from '../../platform/expiry.ts'
import type { Limits } from '../../platform/limits.ts'
import { WINDOW_SECONDS } from '../../platform/limits-store.ts'
import * as entitlements from '../entitlements/service.ts'
import { type CodeKeys, hashCode, openCode, readCode } from './code.ts'
import * as queries from './queries.ts'
import type {
  CardFilters,
  GiftCard,
  GiftCardPatch,
  GiftCardStatus,
  ShownBalance,
} from './schema.ts'

export const FEATURE = 'gift_cards'

/** The cards of a store, newest first. */
export async function list(db: Db, filters: CardFilters, page: Page) {
  const [gift_cards, { total }] = await Promise.all([
    queries.listCards(db, filters, page),
    queries.countCards(db, filters),
  ])
  return { gift_cards, total, ...page }
}

export async function get(db: Db, id: string): Promise<GiftCard> {
  return found(isUuid(id) ? await queries.findCard(db, id) : null)
}

/** The card, with its row to ourselves. */
export async function getLocked(tx: Tx, id: string): Promise<GiftCard> {
  return found(isUuid(id) ? await queries.lockCard(tx, id) : null)
}

function found(card: GiftCard | null): GiftCard {
  if (card === null) throw new ApiError('gift_card_not_found')
  return card
}

/** What happened to a card, newest first. */
export async function listTransactions(db: Db, id: string, page: Page) {
  const card = await get(db, id)
  const [transactions, { total }] = await Promise.all([
    queries.listTransactions(db, card.id, page),
    queries.countTransactions(db, card.id),
  ])
  return { transactions, total, ...page }
}

/** Takes a card out of use. What an order already holds of it is honoured. */
export const disable = (db: TenantDb, actor: audit.Actor, id: string) =>
  change(db, actor, id, 'disabled', (tx, card) => {
    if (card.status === 'expired') throw refuseState(card, [])
    return card.status === 'disabled' ? null : queries.disableCard(tx, card.id)
  })

export const enable = (db: TenantDb, actor: audit.Actor, id: string) =>
  change(db, actor, id, 'enabled', (tx, card) => {
    if (card.status === 'expired') throw refuseState(card, [])
    return card.status === 'disabled' ? queries.enableCard(tx, card.id) : null
  })

export function patch(db: TenantDb, actor: audit.Actor, id: string, wanted: GiftCardPatch) {
  return change(db, actor, id, 'updated', (tx, card) => {
    const terms = wanted.expires_at
      ? { ...wanted, expires_at: readExpiry(tx.clock, wanted.expires_at) }
      : wanted
    // Its value is booked as the store's own by then, or about to be.
    if (wanted.expires_at !== undefined && card.status === 'expired') throw refuseState(card, [])
    const named = wanted.expires_at !== undefined || wanted.note !== undefined
    return named ? queries.patchCard(tx, card.id, terms) : null
  })
}

/** One change of a card, on record; null means that there is nothing to change. */
function change(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  what: 'disabled' | 'enabled' | 'updated',
  act: (tx: Tx, card: GiftCard) => Promise<GiftCard> | null,
): Promise<GiftCard> {
  return db.transaction(`gift cards: ${what}`, async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    const before = await getLocked(tx, id)
    const after = await act(tx, before)
    if (after === null) return before
    await audit.record(tx, actor, {
      action: `gift_card.${what}`,
      entity: `gift_card:${after.id}`,
      before: { status: before.status, expires_at: before.expires_at },
      after: { status: after.status, expires_at: after.expires_at },
    })
    return after
  })
}

export const refuseState = (card: GiftCard, allowed: readonly GiftCardStatus[]) =>
  new ApiError('invalid_transition', { body: { current_status: card.status, allowed } })

export const insufficient = (card: GiftCard) =>
  new ApiError('insufficient_balance', {
    body: { available_cents: card.balance_cents - card.held_cents },
  })

interface KeptAnswer {
  gift_card?: { id: string }
  gift_cards?: { id: string }[]
}

/** Fills the codes into a kept answer while they may still be shown; after that they are null. */
export async function showCodes(
  db: Db,
  keys: CodeKeys,
  { status, body }: { status: number; body: string },
): Promise<string> {
  if (status !== 201) return body
  const kept = JSON.parse(body) as KeptAnswer
  const cards = kept.gift_cards ?? (kept.gift_card === undefined ? [] : [kept.gift_card])
  const sealed = await queries.listSealedCodes(
    db,
    cards.map(({ id }) => id),
  )
  const codes = new Map(
    sealed.map((row) => [row.id, openCode(keys, db.tenant, row.code_hmac, row.code_sealed)]),
  )
  const codeOf = ({ id }: { id: string }) => codes.get(id) ?? null
  if (kept.gift_card !== undefined) {
    return JSON.stringify({ ...kept, code: codeOf(kept.gift_card) })
  }
  return JSON.stringify({ gift_cards: cards.map((card) => ({ ...card, code: codeOf(card) })) })
}

/** Whether a card can still be used, by a shopper or for money that comes back to it. */
export const isUsable = (card: GiftCard | null): card is GiftCard =>
  card?.status === 'active' || card?.status === 'depleted'

/** Enough for somebody who mistypes, and nothing for somebody who tries codes. */
const CHECKS_PER_CALLER = 20
/** Over all callers of a store: a storefront asks for many shoppers, a botnet from many addresses. */
const CHECKS_PER_STORE = 200

/** What a card is worth to whoever knows its code. There is one refusal, whatever is wrong. */
export async function checkBalance(
  { limits, keys }: { limits: Pick<Limits, 'velocity'>; keys: CodeKeys },
  db: Db,
  caller: string,
  text: string,
): Promise<ShownBalance> {
  await withinLimit(limits, `gift-cards:${db.tenant}:${caller}`, CHECKS_PER_CALLER)
  await withinLimit(limits, `gift-cards:${db.tenant}`, CHECKS_PER_STORE)
  const code = readCode(text)
  const card = code === null ? null : await queries.findByCode(db, hashCode(keys, db.tenant, code))
  if (!isUsable(card)) throw new ApiError('gift_card_not_found')
  const { code_last4, balance_cents, held_cents, currency, status, expires_at } = card
  return { code_last4, balance_cents: balance_cents - held_cents, currency, status, expires_at }
}

async function withinLimit(limits: Pick<Limits, 'velocity'>, bucket: string, limit: number) {
  if (await limits.velocity(bucket, limit)) return
  throw new ApiError('rate_limited', { headers: { 'retry-after': String(WINDOW_SECONDS) } })
}
