import { ApiError } from '../../errors.ts'
import type { Facts } from '../fraud/schema.ts'
import type { Source } from '../payments/service.ts'
import type { CheckoutRequest } from './schema.ts'
import type { CheckoutDeps, Sale } from './service.ts'

export type { Facts }

/** What is known of whoever wants to buy. The body's word for it, and never an identity. */
export function factsOf(
  { keys }: CheckoutDeps,
  { request, source }: { request: CheckoutRequest; source: Source | null },
): Facts {
  const card = source !== null && 'card' in source ? source.card : null
  return {
    customer_ref: request.customer_ref,
    email: request.email ?? null,
    ip: request.ip ?? null,
    card_fingerprint: card?.fingerprint(keys.fingerprint) ?? null,
    card_bin: card?.bin ?? null,
    address: request.shipping_address,
  }
}

/** What the site or the add-ons do not offer is refused before anything is held. */
export function requireGates(request: CheckoutRequest, { gates, features }: Sale): void {
  const refuse = (feature: string) =>
    new ApiError('feature_disabled', { body: { feature_key: feature } })
  if (request.apply_store_credit && !gates.storeCredit) throw refuse('store_credit')
  if (request.gift_card_code && !gates.giftCards) throw refuse('gift_cards')
  if (request.subscribe && !features.has('subscriptions')) throw refuse('subscriptions')
}

/** Where the store asks for a statement, only its current wording counts. */
export function requireAttested({ attestation }: CheckoutRequest, { gates, features }: Sale): void {
  if (gates.statementVersion === null || !features.has('funnel_gate')) return
  if (attestation?.statement_version === gates.statementVersion) return
  throw new ApiError('attestation_required', {
    body: { statement_version: gates.statementVersion },
  })
}
