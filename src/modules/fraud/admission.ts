import type { TenantDb } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Limits } from '../../platform/rate-limits.ts'
import * as entitlements from '../entitlements/service.ts'
import type { BanVerdict, Facts } from './schema.ts'
import { scoreRisk } from './score.ts'
import { checkBans, record } from './service.ts'
import { ADVANCED } from './settings.ts'
import type { FraudSettings } from './settings-schema.ts'
import { countAttempt, countFailure } from './velocity.ts'

/** The check that every card passes before a gateway gets it, wherever it is entered. */

export interface AdmissionDeps {
  limits: Pick<Limits, 'addHits'>
  /** Attempts per minute of one shopper. */
  velocityLimit: number
}

/**
 * Refuses an attempt above the store's own limit, which is lower than the platform's. Returns its share of that
 * limit. The attempt was counted before, with its share of the platform's.
 */
export function requireWithinOwn(
  share: number,
  { attempts_per_minute: own }: Pick<FraudSettings, 'attempts_per_minute'>,
  velocityLimit: number,
): number {
  const ownShare = own === null ? share : (share * velocityLimit) / own
  if (ownShare > 1) throw tooOften()
  return ownShare
}

const tooOften = () => new ApiError('velocity_exceeded', { headers: { 'retry-after': '60' } })

/** Counts an attempt. Returns the fullest bucket's share of the limit, or refuses above it. */
export async function requireWithinVelocity(
  { limits, velocityLimit }: AdmissionDeps,
  db: TenantDb,
  facts: Facts,
): Promise<number> {
  const share = await countAttempt(limits, db.tenant, facts, velocityLimit)
  if (share > 1) throw tooOften()
  return share
}

export interface Blocked extends Pick<BanVerdict, 'ban_ids'> {
  /** Null: there is no order yet, or it is not about one. */
  order_id: string | null
}

/**
 * Records an attempt that a ban blocks, counts it as a failed one and returns its refusal, which does not
 * name the ban.
 */
export async function recordBlock(
  { limits }: Pick<AdmissionDeps, 'limits'>,
  db: TenantDb,
  facts: Facts,
  blocked: Blocked,
): Promise<ApiError> {
  const { score, signals } = scoreRisk({ ban: 'block' })
  await Promise.all([
    db.transaction('fraud: block', (tx) =>
      record(tx, { ...blocked, decision: 'rejected', score, signals }),
    ),
    countFailure(limits, db.tenant, facts),
  ])
  return new ApiError('fraud_rejected')
}

/**
 * Refuses a shopper who tries too often, and a banned one. Returns the bans with the decision `review`. A
 * checkout looks for bans in the transaction that reserves its stock, and so calls the other two functions
 * itself.
 */
export async function requireCardAdmitted(
  deps: AdmissionDeps,
  db: TenantDb,
  facts: Facts,
  order_id: string | null,
): Promise<string[]> {
  const share = await requireWithinVelocity(deps, db, facts)
  const { decision, ban_ids, settings } = await checkBans(db, facts)
  if (settings !== null && (await entitlements.hasFeature(db, ADVANCED))) {
    requireWithinOwn(share, settings, deps.velocityLimit)
  }
  if (decision === 'block') throw await recordBlock(deps, db, facts, { order_id, ban_ids })
  return ban_ids
}
