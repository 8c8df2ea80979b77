import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { readExpiry } from '../../platform/expiry.ts'
import { type Limits, requireWithin } from '../../platform/rate-limits.ts'
import * as entitlements from '../entitlements/service.ts'
import { type CodeKeys, decryptCode, hashCode, parseCode } from './card-code.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import type {
  CardFilters,
  GiftCard,
  GiftCardPatch,
  GiftCardStatus,
  ShownBalance,
} from './schema.ts'

export const FEATURE = 'gift_cards'

/** Lists the cards of a store, newest first. */
export async function list(db: Db, filters: CardFilters, page: Page) {
  const { rows, shown } = await queries.listCards(db, filters, page)
  return { gift_cards: rows, ...shown }
}

export async function get(db: Db, id: string): Promise<GiftCard> {
  return requireCard(isUuid(id) ? await queries.findCard(db, id) : null)
}

/** Gets a card and locks its row. */
export async function getLocked(tx: Tx, id: string): Promise<GiftCard> {
  return requireCard(isUuid(id) ? await queries.lockCard(tx, id) : null)
}

function requireCard(card: GiftCard | null): GiftCard {
  if (card === null) throw refuse('gift_card_not_found')
  return card
}

/** Lists the transactions of a card, newest first. */
export async function listTransactions(db: Db, id: string, page: Page) {
  const card = await get(db, id)
  const { rows, shown } = await queries.listTransactions(db, card.id, page)
  return { transactions: rows, ...shown }
}

/** Disables a card. An amount that an order already holds can still be captured. */
export const disable = (db: TenantDb, actor: audit.Actor, id: string) =>
  change(db, actor, { id, action: 'disabled' }, (tx, card) => {
    if (card.status === 'expired') throw refuseState(card, [])
    return card.status === 'disabled' ? null : queries.disableCard(tx, card.id)
  })

export const enable = (db: TenantDb, actor: audit.Actor, id: string) =>
  change(db, actor, { id, action: 'enabled' }, (tx, card) => {
    if (card.status === 'expired') throw refuseState(card, [])
    return card.status === 'disabled' ? queries.enableCard(tx, card.id) : null
  })

export function patch(db: TenantDb, actor: audit.Actor, id: string, request: GiftCardPatch) {
  return change(db, actor, { id, action: 'updated' }, (tx, card) => {
    const terms = request.expires_at
      ? { ...request, expires_at: readExpiry(tx.clock, request.expires_at) }
      : request
    // The rest of an expired card is booked as breakage, or will be.
    if (request.expires_at !== undefined && card.status === 'expired') throw refuseState(card, [])
    // The recipient of the mail knows the code: after a change of the address two people would have it.
    if (request.recipient_email !== undefined && card.sent_at !== null) throw refuseState(card, [])
    const named = [request.expires_at, request.note, request.recipient_email]
    return named.some((each) => each !== undefined) ? queries.patchCard(tx, card.id, terms) : null
  })
}

/** Changes a card and audits the change. `act` returns null if there is nothing to change. */
function change(
  db: TenantDb,
  actor: audit.Actor,
  { id, action }: { id: string; action: 'disabled' | 'enabled' | 'updated' },
  act: (tx: Tx, card: GiftCard) => Promise<GiftCard> | null,
): Promise<GiftCard> {
  return db.transaction(`gift cards: ${action}`, async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    const before = await getLocked(tx, id)
    const after = await act(tx, before)
    if (after === null) return before
    await audit.record(tx, actor, {
      action: `gift_card.${action}`,
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

interface StoredBody {
  gift_card?: { id: string }
  gift_cards?: { id: string }[]
}

/** Fills the codes into a stored answer while they may be shown; after that they are null. */
export async function showCodes(
  db: Db,
  keys: CodeKeys,
  { status, body }: { status: number; body: string },
): Promise<string> {
  if (status !== 201) return body
  const stored = JSON.parse(body) as StoredBody
  const cards = stored.gift_cards ?? (stored.gift_card === undefined ? [] : [stored.gift_card])
  const encrypted = await queries.listEncryptedCodes(
    db,
    cards.map(({ id }) => id),
  )
  const codes = new Map(
    encrypted.map((row) => [row.id, decryptCode(keys, db.tenant, row.code_hmac, row.code_sealed)]),
  )
  const codeOf = ({ id }: { id: string }) => codes.get(id) ?? null
  if (stored.gift_card !== undefined) {
    return JSON.stringify({ ...stored, code: codeOf(stored.gift_card) })
  }
  return JSON.stringify({ gift_cards: cards.map((card) => ({ ...card, code: codeOf(card) })) })
}

/** Finds the code of a card, for the mail to its recipient. Returns null once the code is erased. */
export async function findCode(db: Db, keys: CodeKeys, id: string): Promise<string | null> {
  const found = await queries.findEncryptedCode(db, id)
  return found && decryptCode(keys, db.tenant, found.code_hmac, found.code_sealed)
}

/** Records that the code of a card was mailed to its recipient. */
export const recordSent = (db: Db, id: string) => queries.markSent(db, id)

/** Whether a card can be used, to pay or for a refund. */
export const isUsable = (card: GiftCard | null): card is GiftCard =>
  card?.status === 'active' || card?.status === 'depleted'

/** Checks per minute of one caller: enough for typing errors, too few to guess codes. */
const CHECKS_PER_CALLER = 20
/** Checks per minute of all callers of a store: a storefront checks for many shoppers, and so does a botnet. */
const CHECKS_PER_STORE = 200

/** Returns the balance of the card with a code. All refusals are equal, so that they tell nothing. */
export async function checkBalance(
  { limits, keys }: { limits: Pick<Limits, 'velocity'>; keys: CodeKeys },
  db: Db,
  caller: string,
  text: string,
): Promise<ShownBalance> {
  await requireWithin(limits, `gift-cards:${db.tenant}:${caller}`, CHECKS_PER_CALLER)
  await requireWithin(limits, `gift-cards:${db.tenant}`, CHECKS_PER_STORE)
  const found = await findBalance(db, keys, text)
  if (found === null) throw refuse('gift_card_not_found')
  return found
}

/** Finds the spendable balance of the card with a code. Returns null for one that cannot be used. */
export async function findBalance(
  db: Db,
  keys: CodeKeys,
  text: string,
): Promise<ShownBalance | null> {
  const code = parseCode(text)
  const card = code === null ? null : await queries.findByCode(db, hashCode(keys, db.tenant, code))
  if (!isUsable(card)) return null
  const { code_last4, balance_cents, held_cents, currency, status, expires_at } = card
  return { code_last4, balance_cents: balance_cents - held_cents, currency, status, expires_at }
}
