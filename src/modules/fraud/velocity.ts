import { sha256 } from '../../kernel/tokens.ts'
import { callerOf, type Limits } from '../../platform/limits.ts'
import { normalise } from './normalise.ts'
import type { Facts } from './schema.ts'

/** What is counted. Without a fact there is no bucket: those who lack it are not one shopper. */
const COUNTED = ['customer_ref', 'ip', 'card_fingerprint', 'email'] as const

/**
 * An attempt counts before it is made; one that fails counts three times in all. Whoever tries out
 * cards fails mostly, whoever shops does not.
 */
const FAILURE_EXTRA = 2

/**
 * One bucket for each fact of the store's shopper. Names of people are hashed, so that the limiter's
 * store holds none; an IPv6 address counts as its network.
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

/** Counts an attempt. The answer is the fullest bucket's share of the limit: above 1 is too many. */
export async function measureVelocity(
  limits: Spender,
  tenant: string,
  facts: Facts,
  limit: number,
): Promise<number> {
  return (await limits.addHits(velocityBuckets(tenant, facts), 1)) / limit
}

/** Counts an attempt, and answers whether it may go on. Throws `db_error` when nobody can say. */
export const passVelocity = async (
  limits: Spender,
  tenant: string,
  facts: Facts,
  limit: number,
): Promise<boolean> => (await measureVelocity(limits, tenant, facts, limit)) <= 1

/** Makes the attempt that was counted weigh as one that failed. */
export async function noteFailure(limits: Spender, tenant: string, facts: Facts): Promise<void> {
  await limits.addHits(velocityBuckets(tenant, facts), FAILURE_EXTRA)
}
