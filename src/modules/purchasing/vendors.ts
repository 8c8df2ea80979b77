import type { Db, TenantDb } from '../../db/database.ts'
import { isoNow } from '../../kernel/clock.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import type { NewVendor, Vendor, VendorPatch } from './schema.ts'

/**
 * Vendors. One may be a person: the facts about a vendor are only in its row, where the merchant can change or
 * empty them. Purchase orders and the audit log name it by its id.
 */

export async function list(db: Db, filters: { archived: boolean }, page: Page) {
  const { rows, shown } = await queries.listVendors(db, filters, page)
  return { vendors: rows, ...shown }
}

export async function get(db: Db, id: string): Promise<Vendor> {
  const vendor = isUuid(id) ? await queries.findVendor(db, id) : null
  if (vendor === null) throw refuse('vendor_not_found')
  return vendor
}

/** The vendor of a new purchase order, which cannot be an archived one. */
export async function getInUse(db: Db, id: string): Promise<Vendor> {
  const vendor = await get(db, id)
  if (vendor.archived_at !== null) throw refuse('vendor_not_found')
  return vendor
}

export function create(db: TenantDb, actor: audit.Actor, request: NewVendor): Promise<Vendor> {
  return db.transaction('purchasing: create vendor', async (tx) => {
    const vendor = await queries.insertVendor(tx, request)
    await audit.record(tx, actor, { action: 'vendor.created', entity: `vendor:${vendor.id}` })
    return vendor
  })
}

export function patch(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  { archived, ...changes }: VendorPatch,
): Promise<Vendor> {
  return db.transaction('purchasing: change vendor', async (tx) => {
    const before = isUuid(id) ? await queries.lockVendor(tx, id) : null
    if (before === null) throw refuse('vendor_not_found')
    const archived_at =
      archived === undefined
        ? before.archived_at
        : archived
          ? (before.archived_at ?? isoNow(tx.clock))
          : null
    const vendor = await queries.writeVendor(tx, { ...before, ...changes, archived_at })
    await audit.record(tx, actor, {
      action: 'vendor.changed',
      entity: `vendor:${vendor.id}`,
      // The log has the changed members and not their values: a vendor may be a person.
      after: { changed: Object.keys(changes), archived: vendor.archived_at !== null },
    })
    return vendor
  })
}
