import { mapViolations } from '../../db/constraints.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { bpsOf } from '../../kernel/money.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import * as catalog from '../catalog/service.ts'
import * as entitlements from '../entitlements/service.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import {
  CUSTOMER_REF_LENGTH_MAX,
  type GroupPatch,
  type GroupPrice,
  type Member,
  type NewGroup,
  type NewPrice,
  type PricingGroup,
} from './schema.ts'

export const FEATURE = 'pricing_groups'

export function createGroup(db: TenantDb, actor: audit.Actor, request: NewGroup) {
  return inTransaction(db, 'create group', async (tx) => {
    const after = await queries.insertGroup(tx, request)
    await auditGroup(tx, actor, 'created', { id: after.id, after })
    return after
  })
}

export function changeGroup(db: TenantDb, actor: audit.Actor, id: string, patch: GroupPatch) {
  return inTransaction(db, 'change group', async (tx) => {
    const before = await lockGroup(tx, id)
    const { name = before.name, adjustment_bps = before.adjustment_bps } = patch
    const after = await queries.updateGroup(tx, { ...before, name, adjustment_bps })
    await auditGroup(tx, actor, 'changed', { id, before, after })
    return after
  })
}

/** Deletes a group with its members and prices. */
export function removeGroup(db: TenantDb, actor: audit.Actor, id: string): Promise<PricingGroup> {
  return inTransaction(db, 'remove group', async (tx) => {
    const before = await lockGroup(tx, id)
    await queries.deleteGroup(tx, id)
    await auditGroup(tx, actor, 'removed', { id, before })
    return before
  })
}

export const getGroup = async (db: Db, id: string): Promise<PricingGroup> =>
  requireGroup(isUuid(id) ? await queries.findGroup(db, id) : null)

const lockGroup = async (tx: Tx, id: string): Promise<PricingGroup> =>
  requireGroup(isUuid(id) ? await queries.lockGroup(tx, id) : null)

function requireGroup(group: PricingGroup | null): PricingGroup {
  if (group === null) throw refuse('pricing_group_not_found')
  return group
}

export async function listGroups(db: Db, page: Page) {
  const { rows, shown } = await queries.listGroups(db, page)
  return { pricing_groups: rows, ...shown }
}

/**
 * Adds a customer; a repeated call is harmless. The audit log names no customer, since it is never
 * erased.
 */
export function addMember(db: TenantDb, actor: audit.Actor, id: string, customer_ref: string) {
  return inTransaction(
    db,
    'add member',
    async (tx): Promise<{ member: Member; created: boolean }> => {
      await getGroup(tx, id)
      const inserted = await mapViolations(
        queries.insertMember(tx, id, customer_ref),
        {
          pricing_group_members_group: 'pricing_group_not_found',
        },
        refuse,
      )
      if (inserted !== null) {
        await auditGroup(tx, actor, 'member_added', { id })
        return { member: inserted, created: true }
      }
      const before = await queries.findMember(tx, id, customer_ref)
      if (before === null) throw new Error('the member left under our hands')
      return { member: before, created: false }
    },
  )
}

export function removeMember(db: TenantDb, actor: audit.Actor, id: string, customer_ref: string) {
  return inTransaction(db, 'remove member', async (tx) => {
    await getGroup(tx, id)
    const removed = isCustomerRef(customer_ref)
      ? await queries.deleteMember(tx, id, customer_ref)
      : 0
    if (removed === 0) throw refuse('member_not_found')
    await auditGroup(tx, actor, 'member_removed', { id })
    return getGroup(tx, id)
  })
}

/** Whether a path segment has the form of a customer_ref. A text without it needs no query. */
const isCustomerRef = (text: string): boolean =>
  text !== '' && [...text].length <= CUSTOMER_REF_LENGTH_MAX && !text.includes('\0')

export async function listMembers(db: Db, id: string, page: Page) {
  await getGroup(db, id)
  const { rows, shown } = await queries.listMembers(db, id, page)
  return { members: rows, ...shown }
}

/** Sets the group's price of a variant from a quantity on. */
export function setPrice(db: TenantDb, actor: audit.Actor, id: string, request: NewPrice) {
  const { variant_id, price_cents, min_quantity = 1 } = request
  return inTransaction(db, 'set price', async (tx) => {
    await getGroup(tx, id)
    if (!(await catalog.isUnarchivedVariant(tx, variant_id)))
      throw new ApiError('variant_not_found')
    const price = { group_id: id, variant_id, min_quantity, price_cents }
    const after = await mapViolations(
      queries.putPrice(tx, price),
      {
        pricing_group_prices_group: 'pricing_group_not_found',
        pricing_group_prices_variant: 'variant_not_found',
      },
      refuse,
    )
    await auditGroup(tx, actor, 'price_set', { id, after })
    return after
  })
}

/** Removes the price of one quantity, or all prices of the variant if no quantity is named. */
export function removePrices(
  db: TenantDb,
  actor: audit.Actor,
  key: { group_id: string; variant_id: string; min_quantity: number | null },
) {
  return inTransaction(db, 'remove prices', async (tx) => {
    const group = await getGroup(tx, key.group_id)
    const removed = isUuid(key.variant_id) ? await queries.deletePrices(tx, key) : 0
    if (removed === 0) throw refuse('price_not_found')
    const { variant_id, min_quantity } = key
    await auditGroup(tx, actor, 'prices_removed', {
      id: group.id,
      before: { variant_id, min_quantity },
    })
    return { removed }
  })
}

export async function listPrices(db: Db, id: string, page: Page) {
  await getGroup(db, id)
  const { rows, shown } = await queries.listPrices(db, id, page)
  return { prices: rows, ...shown }
}

/** The discounts and prices of all groups of a customer. */
export interface GroupPrices {
  /** The largest general discount of the groups. */
  adjustment_bps: number
  byVariant: ReadonlyMap<string, readonly GroupPrice[]>
}

/**
 * Reads the prices of all groups of a customer in one query. A guest is in none. The caller checks
 * the add-on first: a store that has switched it off keeps its groups.
 */
export async function groupPrices(
  db: Db,
  customer_ref: string,
  variant_ids: readonly string[],
): Promise<GroupPrices> {
  const byVariant = new Map<string, GroupPrice[]>()
  let adjustment_bps = 0
  const known = variant_ids.filter(isUuid)
  const terms = isCustomerRef(customer_ref) ? await queries.listTerms(db, customer_ref, known) : []
  for (const row of terms) {
    adjustment_bps = Math.max(adjustment_bps, row.adjustment_bps ?? 0)
    if (row.variant_id === null || row.price_cents === null || row.min_quantity === null) continue
    const { price_cents, min_quantity } = row
    const prices = byVariant.get(row.variant_id) ?? []
    prices.push({ price_cents, min_quantity })
    byVariant.set(row.variant_id, prices)
  }
  return { adjustment_bps, byVariant }
}

/** All prices that a customer's groups have for a variant, as `priceOrder` takes them. */
export function pricesOf(
  groups: GroupPrices,
  variant: { variant_id: string; price_cents: number },
): GroupPrice[] {
  const { variant_id, price_cents } = variant
  const adjusted = price_cents - bpsOf(price_cents, groups.adjustment_bps)
  const off = groups.adjustment_bps > 0 ? [{ price_cents: adjusted, min_quantity: 1 }] : []
  return [...(groups.byVariant.get(variant_id) ?? []), ...off]
}

/** Runs a change of groups in a transaction, if the store has the add-on. */
function inTransaction<T>(db: TenantDb, name: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(`pricing: ${name}`, async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    return work(tx)
  })
}

const auditGroup = (
  tx: Tx,
  actor: audit.Actor,
  verb: string,
  {
    id,
    ...change
  }: { id: string; before?: Record<string, unknown>; after?: Record<string, unknown> },
) =>
  audit.record(tx, actor, {
    action: `pricing_group.${verb}`,
    entity: `pricing_group:${id}`,
    ...change,
  })
