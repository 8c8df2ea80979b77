import { sha256 } from '../../kernel/tokens.ts'
import { callerOf, type Limits } from '../../platform/rate-limits.ts'
import { normalise } from './normalise.ts'
import type { Facts } from './schema.ts'

/** The facts that are counted. A missing fact has no bucket: shoppers without it are not one shopper. */
const COUNTED = ['customer_ref', 'ip', 'card_fingerprint', 'email'] as const

/**
 * What a failed attempt counts in addition. Each attempt counts once before it is made, so a failed one
 * counts three times: an attacker who tries stolen cards fails mostly, a shopper does not.
 */
const FAILURE_EXTRA = 2

/**
 * One bucket for each fact of a shopper in a store. The facts are hashed, so that the limiter stores no
 * personal data; an IPv6 address counts as its network.
 */
export function velocityBuckets(tenant: string, facts: Facts): string[] {
  return COUNTED.flatMap((kind) => {
    const value = normalise(kind, facts[kind] ?? '')
    if (value === null) return []
    const counted = kind === 'ip' ? callerOf(value) : value
    return [`checkout:${tenant}:${kind}:${sha256(counted).toString('hex')}`]
  })
}

type Spender = Pick<Limits, 'addHits'>

/** Counts an attempt. Returns the fullest bucket's share of the limit: above 1 is too many. */
export async function countAttempt(
  limits: Spender,
  tenant: string,
  facts: Facts,
  limit: number,
): Promise<number> {
  return (await limits.addHits(velocityBuckets(tenant, facts), 1)) / limit
}

/** Counts a failure of an attempt that was counted before. */
export async function countFailure(limits: Spender, tenant: string, facts: Facts): Promise<void> {
  await limits.addHits(velocityBuckets(tenant, facts), FAILURE_EXTRA)
}
