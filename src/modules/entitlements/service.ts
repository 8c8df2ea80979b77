import type { AllStores, Database, Db, TenantDb, Tx } from '../../db/database.ts'
import type { Sql } from '../../db/sql.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { notifyChanged } from '../../platform/live-cache.ts'
import {
  DEFAULT_TIER,
  FEATURES,
  type FeatureEntry,
  findFeature,
  SHOWN_TO_SHOPPERS,
  TIERS,
} from './catalog.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import type {
  Decision,
  EntitlementRequest,
  Feature,
  FeatureState,
  NewRequest,
  OperatorRuling,
  Ruling,
} from './schema.ts'

/**
 * The state of an add-on. The operator's ruling comes first, then the merchant's switch, then the tier.
 */
export function stateOf(key: string, tier: string, rulings: readonly Ruling[]): FeatureState {
  const ruled = (source: Ruling['source']) =>
    rulings.find((row) => row.feature_key === key && row.source === source)
  const operator = ruled('operator')
  if (operator !== undefined) {
    const state = operator.state === 'deny' ? 'denied' : 'on'
    return { feature_key: key, state, source: 'operator' }
  }
  if (ruled('self_serve')) return { feature_key: key, state: 'on', source: 'self_serve' }
  const included = (TIERS[tier] ?? []).includes(key)
  return { feature_key: key, state: included ? 'on' : 'off', source: 'tier' }
}

export async function listStates(db: Db): Promise<FeatureState[]> {
  const { tier, rulings } = await readRules(db)
  return FEATURES.map(({ key }) => stateOf(key, tier, rulings))
}

/** The enabled add-ons that a renderer of the store must know. */
export async function listShownToShoppers(db: Db): Promise<string[]> {
  const { tier, rulings } = await readRules(db)
  return SHOWN_TO_SHOPPERS.filter((key) => stateOf(key, tier, rulings).state === 'on')
}

/** Lists the catalog with the states of this store. */
export async function listFeatures(db: Db): Promise<{ tier: string; features: Feature[] }> {
  const { tier, rulings } = await readRules(db)
  const features = FEATURES.map(({ selfServe, whatItDoes, ...entry }) => ({
    ...entry,
    whatItDoes: [...whatItDoes],
    self_serve: selfServe,
    ...stateOf(entry.key, tier, rulings),
  }))
  return { tier, features }
}

async function readRules(db: Db) {
  const { tier, rulings } = await queries.readRules(db)
  return { tier: tier ?? DEFAULT_TIER, rulings }
}

/** Whether the store has an add-on, as a condition for the statements of other modules. */
export function featureIsOn(db: Pick<Db, 'tenant'>, key: string): Sql {
  const including = Object.keys(TIERS).filter((tier) => TIERS[tier]?.includes(key))
  return queries.featureIsOn(db, key, { including, default: DEFAULT_TIER })
}

/** Whether the store has the add-on. */
export async function hasFeature(db: Db, key: string): Promise<boolean> {
  const { tier, rulings } = await readRules(db)
  return stateOf(key, tier, rulings).state === 'on'
}

/** Refuses unless the store has the add-on. Modules of an add-on call it before they write. */
export async function requireFeature(db: Db, key: string): Promise<void> {
  const { tier, rulings } = await readRules(db)
  const { state } = stateOf(key, tier, rulings)
  if (state === 'on') return
  const code = state === 'denied' ? 'operator_restricted' : 'feature_not_enabled'
  throw new ApiError(code, { body: { feature_key: key } })
}

export function enable(db: TenantDb, actor: audit.Actor, key: string) {
  requireSelfServe(key)
  return db.transaction('entitlements: enable', async (tx) => {
    const before = await lockState(tx, key)
    if (before.state === 'denied') throw new ApiError('operator_restricted')
    if (before.state === 'on') return { feature_key: key, enabled: true, already_enabled: true }
    await queries.insertSelfServe(tx, key)
    await recordSwitch(tx, actor, 'addon.self_serve_enabled', before)
    return { feature_key: key, enabled: true, already_enabled: false }
  })
}

/** Removes the merchant's switch. An add-on of the tier or of the operator stays on. */
export function disable(db: TenantDb, actor: audit.Actor, key: string) {
  requireSelfServe(key)
  return db.transaction('entitlements: disable', async (tx) => {
    const before = await lockState(tx, key)
    if (before.state === 'denied') throw new ApiError('operator_restricted')
    const removed = await queries.deleteRuling(tx, key, 'self_serve')
    if (removed > 0) await recordSwitch(tx, actor, 'addon.self_serve_disabled', before)
    const { state } = await readState(tx, key)
    return { feature_key: key, enabled: state === 'on', already_disabled: removed === 0 }
  })
}

export function rule(db: TenantDb, actor: audit.Actor, key: string, ruling: OperatorRuling) {
  requireKnown(key)
  return db.transaction('entitlements: rule', async (tx) => {
    const before = await lockState(tx, key)
    if (ruling.state === 'default') await queries.deleteRuling(tx, key, 'operator')
    else await queries.putOperatorRuling(tx, key, ruling.state)
    return recordSwitch(tx, actor, `addon.operator_${ruling.state}`, before)
  })
}

export function setTier(db: TenantDb, actor: audit.Actor, tier: string) {
  return db.transaction('entitlements: set tier', async (tx) => {
    await putTier(tx, actor, tier)
    return listFeatures(tx)
  })
}

/** Sets the tier in the transaction of its cause, such as another plan. */
export async function putTier(tx: Tx, actor: audit.Actor, tier: string): Promise<void> {
  const before = await queries.findTier(tx)
  await queries.putTier(tx, tier)
  await audit.record(tx, actor, {
    action: 'entitlements.tier_set',
    entity: `store:${tx.tenant}`,
    before: { tier: before?.tier ?? DEFAULT_TIER },
    after: { tier },
  })
  await notifyChanged(tx)
}

export async function findState(db: Db, key: string): Promise<FeatureState> {
  requireKnown(key)
  return readState(db, key)
}

export function request(db: TenantDb, actor: audit.Actor, newRequest: NewRequest) {
  const { feature_key: key } = newRequest
  if (requireKnown(key).selfServe) throw refuse('self_serve_available')
  return db.transaction('entitlements: request', async (tx) => {
    const before = await lockState(tx, key)
    if (before.state === 'on') throw refuse('already_enabled')
    const created = await queries.insertRequest(tx, newRequest, actor.name)
    if (created === null) {
      const open = await queries.findOpenRequest(tx, key)
      return { request: open ?? failMissing(key), already_requested: true }
    }
    await audit.record(tx, actor, {
      action: 'addon.activation_requested',
      entity: `feature:${key}`,
      after: { request_id: created.id },
    })
    return { request: created, already_requested: false }
  })
}

const failMissing = (key: string): never => {
  throw new Error(`the open request for ${key} vanished under its lock`)
}

export async function listRequests(db: Db, page: Page) {
  const { rows, shown } = await queries.listRequests(db, page)
  return { requests: rows, ...shown }
}

export async function listAllRequests(
  operator: AllStores,
  status: EntitlementRequest['status'] | undefined,
  page: Page,
) {
  const { rows, shown } = await queries.listAllRequests(operator, status, page)
  return { requests: rows, ...shown }
}

export async function getRequest(db: Db, id: string) {
  const request = isUuid(id) ? await queries.findRequest(db, id) : null
  if (request === null) throw new ApiError('request_not_found')
  return { request }
}

export const countOpenRequests = async (db: Db) => (await queries.countOpenRequests(db)).open

export function withdraw(db: TenantDb, actor: audit.Actor, id: string) {
  return db.transaction('entitlements: withdraw', async (tx) => {
    const open = await lockPending(tx, id)
    // A concurrent request for the add-on must find this one either open or withdrawn.
    await queries.lockFeature(tx, open.feature_key)
    await audit.record(tx, actor, {
      action: 'addon.activation_withdrawn',
      entity: `feature:${open.feature_key}`,
      after: { request_id: id },
    })
    return { request: await queries.withdrawRequest(tx, id) }
  })
}

/** Decides a request. An approval switches the add-on on in the same transaction. */
export async function decide(
  { operator, database }: { operator: AllStores; database: Database },
  actor: audit.Actor,
  id: string,
  decision: Decision,
) {
  const found = isUuid(id) ? await queries.findTenantOfRequest(operator, id) : null
  if (found === null) throw new ApiError('request_not_found')
  return database
    .tenantForOwnWork(found.tenant_ref)
    .transaction('entitlements: decide', async (tx) => {
      const open = await lockPending(tx, id)
      const before = await lockState(tx, open.feature_key)
      if (decision.status === 'approved') {
        await queries.putOperatorRuling(tx, open.feature_key, 'allow')
        await recordSwitch(tx, actor, 'addon.operator_allow', before)
      }
      await audit.record(tx, actor, {
        action: `addon.activation_${decision.status}`,
        entity: `feature:${open.feature_key}`,
        after: { request_id: id },
        reason: decision.decision_note,
      })
      return { request: await queries.closeRequest(tx, id, decision) }
    })
}

async function lockPending(tx: Tx, id: string) {
  const found = isUuid(id) ? await queries.lockRequest(tx, id) : null
  if (found === null) throw new ApiError('request_not_found')
  if (found.status !== 'pending') throw new ApiError('request_decided')
  return found
}

function requireKnown(key: string): FeatureEntry {
  const entry = findFeature(key)
  if (entry === undefined) throw refuse('unknown_feature')
  return entry
}

/** Refuses an add-on that is not self-serve. The contract has the same answer for an unknown one. */
function requireSelfServe(key: string) {
  if (!findFeature(key)?.selfServe) throw refuse('not_self_serve')
}

async function readState(db: Db, key: string): Promise<FeatureState> {
  const { tier, rulings } = await readRules(db)
  return stateOf(key, tier, rulings)
}

async function lockState(tx: Tx, key: string): Promise<FeatureState> {
  await queries.lockFeature(tx, key)
  return readState(tx, key)
}

async function recordSwitch(tx: Tx, actor: audit.Actor, action: string, before: FeatureState) {
  const after = await readState(tx, before.feature_key)
  await audit.record(tx, actor, { action, entity: `feature:${before.feature_key}`, before, after })
  if (SHOWN_TO_SHOPPERS.some((key) => key === before.feature_key)) await notifyChanged(tx)
  return after
}
