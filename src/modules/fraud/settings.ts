import type { Db, TenantDb } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import * as audit from '../../platform/audit.ts'
import * as entitlements from '../entitlements/service.ts'
import * as queries from './queries.ts'
import { DEFAULT_RULES, type Rules } from './score.ts'
import type {
  FraudSettings,
  FraudSettingsAnswer,
  FraudSettingsChange,
  SignalRule,
} from './settings-schema.ts'

/** The settings by which a store with `advanced_fraud` scores its attempts. Without the add-on the defaults count. */

export const ADVANCED = 'advanced_fraud'

const scored = (points: number): SignalRule => ({ points, action: 'score' })

export const DEFAULT_SETTINGS: FraudSettings = {
  review_from: DEFAULT_RULES.review_from,
  reject_from: DEFAULT_RULES.reject_from,
  signals: {
    avs_mismatch: scored(DEFAULT_RULES.avs.none),
    avs_partial: scored(DEFAULT_RULES.avs.partial),
    cvv_mismatch: scored(DEFAULT_RULES.cvv),
    gateway_warning: scored(DEFAULT_RULES.fraud_signal),
    velocity: {
      ...scored(DEFAULT_RULES.velocity.points),
      from_percent: DEFAULT_RULES.velocity.from * 100,
    },
  },
  attempts_per_minute: null,
}

/** Adds the defaults of absent members. */
function completed(given: FraudSettingsChange): FraudSettings {
  const { signals = {}, ...plain } = given
  const defaults = DEFAULT_SETTINGS.signals
  return {
    ...DEFAULT_SETTINGS,
    ...plain,
    signals: {
      avs_mismatch: { ...defaults.avs_mismatch, ...signals.avs_mismatch },
      avs_partial: { ...defaults.avs_partial, ...signals.avs_partial },
      cvv_mismatch: { ...defaults.cvv_mismatch, ...signals.cvv_mismatch },
      gateway_warning: { ...defaults.gateway_warning, ...signals.gateway_warning },
      velocity: { ...defaults.velocity, ...signals.velocity },
    },
  }
}

/** The rules that follow from settings. A ban to review always holds an order, whatever the thresholds are. */
export function rulesOf({ review_from, reject_from, signals }: FraudSettings): Rules {
  const { avs_mismatch, avs_partial, cvv_mismatch, gateway_warning, velocity } = signals
  return {
    avs: { none: avs_mismatch.points, partial: avs_partial.points },
    cvv: cvv_mismatch.points,
    velocity: { from: velocity.from_percent / 100, points: velocity.points },
    ban: { review: review_from, block: reject_from },
    fraud_signal: gateway_warning.points,
    review_from,
    reject_from,
    actions: {
      avs_none: avs_mismatch.action,
      avs_partial: avs_partial.action,
      cvv: cvv_mismatch.action,
      velocity: velocity.action,
      fraud_signal: gateway_warning.action,
    },
  }
}

export async function read(db: Db, velocityLimit: number): Promise<FraudSettingsAnswer> {
  const [found, isOn] = await Promise.all([
    queries.findSettings(db),
    entitlements.hasFeature(db, ADVANCED),
  ])
  return {
    settings: (found?.settings as FraudSettings | undefined) ?? DEFAULT_SETTINGS,
    defaults: DEFAULT_SETTINGS,
    in_use: isOn && found !== null,
    attempts_per_minute_max: velocityLimit,
    updated_at: found?.updated_at ?? null,
  }
}

/** Replaces the settings of a store. */
export async function write(
  db: TenantDb,
  actor: audit.Actor,
  given: FraudSettingsChange,
  velocityLimit: number,
): Promise<FraudSettingsAnswer> {
  await entitlements.requireFeature(db, ADVANCED)
  const settings = completed(given)
  if (settings.reject_from < settings.review_from) {
    throw invalidBody('reject_from', 'must be at least review_from')
  }
  if ((settings.attempts_per_minute ?? 0) > velocityLimit) {
    throw invalidBody('attempts_per_minute', `must be at most ${velocityLimit}`)
  }
  await db.transaction('fraud: settings', async (tx) => {
    const before = await queries.findSettings(tx)
    await queries.upsertSettings(tx, settings, actor.name)
    await audit.record(tx, actor, {
      action: 'fraud.settings_changed',
      entity: `store:${tx.tenant}`,
      before: { settings: before?.settings ?? null },
      after: { settings },
    })
  })
  return read(db, velocityLimit)
}
