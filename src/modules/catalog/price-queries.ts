import { Type } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Nullable } from '../../kernel/schema.ts'
import type { VariantFields } from './queries.ts'

/** Keeps a price that ends now. */
export const insertPastPrice = (
  tx: Tx,
  variantId: string,
  { price_cents, currency }: Pick<VariantFields, 'price_cents' | 'currency'>,
) =>
  tx.run(sql`
    insert into past_prices (tenant_ref, variant_id, price_cents, currency)
    values (${tx.tenant}, ${variantId}, ${price_cents}, ${currency})`)

/** The lowest price that ended within so many days before now; null without one. */
export const lowestPastPrice = (tx: Tx, variantId: string, currency: string, days: number) =>
  tx.one(
    Type.Object({ lowest: Nullable(Type.Integer()) }),
    sql`
    select min(price_cents) as lowest
      from past_prices
     where tenant_ref = ${tx.tenant} and variant_id = ${variantId} and currency = ${currency}
       and until_at > fd_now() - make_interval(days => ${days})`,
  )
