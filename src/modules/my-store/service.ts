import type { Db } from '../../db/database.ts'
import * as credentials from '../credentials/service.ts'
import * as entitlements from '../entitlements/service.ts'
import * as stores from '../stores/service.ts'

/** The answers that are put together from several modules. */

export async function myStore(db: Db) {
  const [store, features] = await Promise.all([stores.get(db), entitlements.listStates(db)])
  return { store: { ...store, features } }
}

export async function storeDetail(db: Db) {
  const [store, { tier, features }, active_credentials, open_requests] = await Promise.all([
    stores.get(db),
    entitlements.listFeatures(db),
    credentials.countActive(db),
    entitlements.countOpenRequests(db),
  ])
  return { store: { ...store, tier, features, counts: { active_credentials, open_requests } } }
}
