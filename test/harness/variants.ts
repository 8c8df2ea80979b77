import type { TenantDb } from '../../src/db/database.ts'
import { sql } from '../../src/db/sql.ts'

/** A variant with a product of its own, for tests of rows that refer to a variant. */
export function makeVariant(db: TenantDb, id: string, price_cents = 1_000): Promise<string> {
  return db.transaction('a variant', async (tx) => {
    await tx.run(sql`
      insert into products (tenant_ref, id, slug, name)
      values (${tx.tenant}, ${id}, ${id}, 'Something') on conflict do nothing`)
    await tx.run(sql`
      insert into variants (tenant_ref, id, product_id, sku, price_cents, currency)
      values (${tx.tenant}, ${id}, ${id}, ${id}, ${price_cents}, 'USD') on conflict do nothing`)
    return id
  })
}
