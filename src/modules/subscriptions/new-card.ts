import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import { type AdmissionDeps, requireCardAdmitted } from '../fraud/admission.ts'
import type { Facts } from '../fraud/schema.ts'
import { countFailure } from '../fraud/velocity.ts'
import type { CardCheck, Gateway } from '../payments/adapters/gateway.ts'
import type { GatewayResult } from '../payments/adapters/schema.ts'
import { readSource } from '../payments/card.ts'
import { wasNotSent } from '../payments/gateway.ts'
import type { GatewayName } from '../payments/schema.ts'
import type { Payments } from '../payments/service.ts'
import { shownReason } from '../payments/shown-reason.ts'
import * as stores from '../stores/service.ts'
import { requireAllowed } from './actions.ts'
import { type Changing, changeSubscription } from './change.ts'
import { retryNow } from './cycles.ts'
import { reschedule } from './dates.ts'
import * as queries from './queries.ts'
import { find } from './read.ts'
import type { Subscription, SubscriptionRow } from './schema.ts'
import type { ShopperCard } from './verb-schema.ts'

/**
 * Replaces the card of a subscription. The number exists only during the one call in which the gateway verifies and
 * stores it; we store the gateway's reference (decision 0046).
 */

export interface CardDeps extends AdmissionDeps {
  payments: Payments
  keys: { fingerprint: Buffer }
}

export async function replaceCard(
  deps: CardDeps,
  db: TenantDb,
  changing: Changing,
  body: ShopperCard,
): Promise<Subscription> {
  const source = readSource(body, db.clock)
  if (source === null) throw invalidBody('card', 'must be sent, or a payment_token')
  const store = await stores.get(db)
  const before = await find(db, store, changing.id, changing.whose)
  // This comes before the call to the gateway: a card is verified only where it can be used.
  requireAllowed(before, 'change_card')
  const facts = factsOf(deps, before, { source, ip: body.ip ?? null })
  await requireAdmitted(deps, db, facts)
  const gateway = await deps.payments.forStore(db)
  const result = await gateway.verify(checkOf(before, { source, ip: body.ip ?? null }))
  if (result.outcome !== 'approved') throw await refusalOf(deps, db, facts, result)
  return storeCard(deps, db, changing, { gateway, result, facts })
}

type Source = CardCheck['source']

const checkOf = (
  { currency, email, ship_to }: SubscriptionRow,
  { source, ip }: { source: Source; ip: string | null },
): CardCheck => ({ ref: newId(), source, currency, email, ip, ship_to })

/** Facts about the shopper for the fraud check, as a checkout has them. */
function factsOf(
  { keys }: CardDeps,
  { customer_ref, email, ship_to }: SubscriptionRow,
  { source, ip }: { source: Source; ip: string | null },
): Facts {
  const card = 'card' in source ? source.card : null
  return {
    customer_ref,
    email,
    ip,
    address: ship_to,
    card_bin: card?.bin ?? null,
    card_fingerprint: card?.fingerprint(keys.fingerprint) ?? null,
  }
}

/**
 * Refuses a banned shopper or card, and a shopper who tries many cards: thieves test stolen cards where a test costs
 * nothing.
 */
async function requireAdmitted(deps: CardDeps, db: TenantDb, facts: Facts): Promise<void> {
  await requireCardAdmitted(deps, db, facts, null)
  // The networks forbid to charge a blocked card again, even if it is entered anew. A token does not show the number.
  const { card_fingerprint } = facts
  if (card_fingerprint && (await queries.isCardBlocked(db, card_fingerprint)).blocked)
    throw new ApiError('card_unusable')
}

const NO_ANSWER = 'The gateway gave no answer, and the card was not changed. Try again in a moment.'

async function refusalOf(
  { limits }: CardDeps,
  db: TenantDb,
  facts: Facts,
  result: GatewayResult,
): Promise<ApiError> {
  if (result.outcome === 'unknown' || wasNotSent(result))
    return new ApiError('service_unavailable', { message: NO_ANSWER, kind: 'upstream' })
  await countFailure(limits, db.tenant, facts)
  const decline = { reason: shownReason(result.reason), retryable: result.retryable }
  return new ApiError('payment_declined', { body: { decline } })
}

interface Verified {
  gateway: Gateway
  result: GatewayResult
  facts: Facts
}

/** Stores the verified card. Where the subscription has changed meanwhile, deletes it at the gateway. */
async function storeCard(
  deps: CardDeps,
  db: TenantDb,
  changing: Changing,
  { gateway, result, facts }: Verified,
): Promise<Subscription> {
  let old: StoredCard | null = null
  const change = changeSubscription(db, changing, 'change_card', async ({ tx, row }) => {
    old = await unusedCard(tx, row, result.vault_id)
    const changed = withCard(row, { gateway, result, facts })
    return { row: changed, verb: 'card_changed', reschedule: tryCard }
  })
  const changed = await change.catch(async (error: unknown) => {
    // Only a refusal proves that no subscription has the card: a lost commit may have written it.
    const isUnused = error instanceof ApiError && result.vault_id !== null
    if (isUnused) await gateway.vaultDelete({ vault_id: result.vault_id ?? '' })
    throw error
  })
  await deleteStoredCard(deps, db, old)
  return changed
}

/** Makes a declined charge due at once, and removes the block of the old card. */
async function tryCard(tx: Tx, id: string, zone: string): Promise<void> {
  await reschedule(tx, id, zone)
  await retryNow(tx, id)
}

const withCard = (row: SubscriptionRow, { gateway, result, facts }: Verified): SubscriptionRow => ({
  ...row,
  gateway: gateway.name,
  vault_id: result.vault_id,
  initial_txn_id: result.txn_id,
  card_brand: result.card?.brand ?? null,
  card_last4: result.card?.last4 ?? null,
  card_exp_month: result.card?.exp_month ?? null,
  card_exp_year: result.card?.exp_year ?? null,
  card_fingerprint: facts.card_fingerprint ?? null,
})

interface StoredCard {
  gateway: GatewayName
  vault_id: string
}

/** Returns the card that is replaced, unless another running subscription is charged by it. */
async function unusedCard(
  tx: Tx,
  row: SubscriptionRow,
  newVaultId: string | null,
): Promise<StoredCard | null> {
  const { gateway, vault_id } = row
  if (gateway === null || vault_id === null || vault_id === newVaultId) return null
  const { in_use } = await queries.isVaultInUse(tx, { vault_id, except: row.id })
  return in_use ? null : { gateway: gateway as GatewayName, vault_id }
}

/**
 * Deletes a card that is no longer used from its gateway. A card that the gateway keeps nevertheless is not charged
 * any more.
 */
async function deleteStoredCard(
  { payments }: CardDeps,
  db: TenantDb,
  old: StoredCard | null,
): Promise<void> {
  if (old === null) return
  const gateway = await payments.forStore(db, old.gateway).catch(() => null)
  await gateway?.vaultDelete(old)
}
