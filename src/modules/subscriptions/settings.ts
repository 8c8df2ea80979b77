import type { Db, TenantDb } from '../../db/database.ts'
import * as audit from '../../platform/audit.ts'
import * as outbox from '../../platform/outbox.ts'
import { NOTICE_DAYS_CHANGED } from './cycles.ts'
import * as queries from './settings-queries.ts'
import type { Settings, SettingsChange } from './verb-schema.ts'

const DEFAULTS: Settings = {
  dunning: { delays_days: [1, 3, 5, 7], on_exhausted: 'cancel' },
  pre_renewal_notice_days: null,
  on_out_of_stock: 'skip',
}

/** Reads how a store handles the time before, at and after a charge. */
export async function readSettings(db: Db): Promise<Settings> {
  const row = await queries.findSettings(db)
  if (row === null) return DEFAULTS
  const { delays_days, on_exhausted, ...rest } = row
  return { dunning: { delays_days, on_exhausted }, ...rest }
}

/** Sets all settings: a setting that the request does not name gets its default. */
export function putSettings(
  db: TenantDb,
  actor: audit.Actor,
  { dunning, ...rest }: SettingsChange,
): Promise<Settings> {
  const after: Settings = { ...DEFAULTS, ...rest, dunning: { ...DEFAULTS.dunning, ...dunning } }
  return db.transaction('subscriptions: settings', async (tx) => {
    const before = await readSettings(tx)
    await queries.putSettings(tx, after)
    await audit.record(tx, actor, {
      action: 'subscriptions.settings_changed',
      entity: 'subscription_settings',
      before,
      after,
    })
    if (before.pre_renewal_notice_days !== after.pre_renewal_notice_days)
      await outbox.publish(tx, NOTICE_DAYS_CHANGED, {})
    return after
  })
}
