import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { GroupTerms, Member, type NewGroup, PricingGroup, VariantPrice } from './schema.ts'

const columns = sql`
  pricing_groups.id, name, adjustment_bps, pricing_groups.created_at, updated_at,
  (select count(*)
     from pricing_group_members m
    where m.tenant_ref = pricing_groups.tenant_ref
      and m.group_id = pricing_groups.id) as member_count`

export const insertGroup = (tx: Tx, { name, adjustment_bps = null }: NewGroup) =>
  tx.one(
    PricingGroup,
    sql`
    insert into pricing_groups (tenant_ref, name, adjustment_bps)
    values (${tx.tenant}, ${name}, ${adjustment_bps})
    returning ${columns}`,
  )

export const updateGroup = (tx: Tx, { id, name, adjustment_bps }: PricingGroup) =>
  tx.one(
    PricingGroup,
    sql`
    update pricing_groups
       set name = ${name}, adjustment_bps = ${adjustment_bps}, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id}
    returning ${columns}`,
  )

export const deleteGroup = (tx: Tx, id: string) =>
  tx.run(sql`delete from pricing_groups where tenant_ref = ${tx.tenant} and id = ${id}`)

export const findGroup = (db: Db, id: string) =>
  db.maybe(
    PricingGroup,
    sql`select ${columns} from pricing_groups where tenant_ref = ${db.tenant} and id = ${id}`,
  )

/** Locks a group against other changes of its row. Members and prices can be written meanwhile. */
export const lockGroup = (tx: Tx, id: string) =>
  tx.maybe(
    PricingGroup,
    sql`
    select ${columns}
      from pricing_groups
     where tenant_ref = ${tx.tenant} and id = ${id}
       for no key update`,
  )

export const listGroups = (db: Db, page: Page) =>
  readList(
    db,
    {
      shape: PricingGroup,
      table: sql`pricing_groups`,
      as: sql`pricing_groups`,
      scope: sql`pricing_groups.tenant_ref = ${db.tenant}`,
      filters: [],
      key: NEWEST_KEY,
      descending: true,
      columns,
    },
    page,
  )

/** Adds a customer to a group. Returns null if the customer is a member already. */
export const insertMember = (tx: Tx, group_id: string, customer_ref: string) =>
  tx.maybe(
    Member,
    sql`
    insert into pricing_group_members (tenant_ref, group_id, customer_ref)
    values (${tx.tenant}, ${group_id}, ${customer_ref})
        on conflict do nothing
    returning customer_ref, created_at`,
  )

export const findMember = (db: Db, group_id: string, customer_ref: string) =>
  db.maybe(
    Member,
    sql`
    select customer_ref, created_at
      from pricing_group_members
     where tenant_ref = ${db.tenant} and group_id = ${group_id}
       and customer_ref = ${customer_ref}`,
  )

export const deleteMember = (tx: Tx, group_id: string, customer_ref: string) =>
  tx.run(sql`
    delete from pricing_group_members
     where tenant_ref = ${tx.tenant} and group_id = ${group_id}
       and customer_ref = ${customer_ref}`)

export const listMembers = (db: Db, group_id: string, page: Page) =>
  readList(
    db,
    {
      shape: Member,
      table: sql`pricing_group_members`,
      as: sql`m`,
      scope: sql`m.tenant_ref = ${db.tenant} and m.group_id = ${group_id}`,
      filters: [],
      key: [{ name: sql`customer_ref`, type: 'text' }],
      descending: false,
      columns: sql`m.customer_ref, m.created_at`,
    },
    page,
  )

const priceColumns = sql`pricing_group_prices.variant_id, price_cents,
                         pricing_group_prices.min_quantity, created_at, updated_at`

interface PriceKey {
  group_id: string
  variant_id: string
  min_quantity: number
}

export const putPrice = (tx: Tx, price: PriceKey & { price_cents: number }) =>
  tx.one(
    VariantPrice,
    sql`
    insert into pricing_group_prices (tenant_ref, group_id, variant_id, min_quantity, price_cents)
    values (${tx.tenant}, ${price.group_id}, ${price.variant_id}, ${price.min_quantity},
            ${price.price_cents})
        on conflict (tenant_ref, group_id, variant_id, min_quantity)
        do update set price_cents = excluded.price_cents, updated_at = fd_now()
    returning ${priceColumns}`,
  )

/** Deletes the price of one quantity, or all prices of a variant. */
export const deletePrices = (
  tx: Tx,
  {
    group_id,
    variant_id,
    min_quantity,
  }: Omit<PriceKey, 'min_quantity'> & { min_quantity: number | null },
) =>
  tx.run(sql`
    delete from pricing_group_prices
     where tenant_ref = ${tx.tenant} and group_id = ${group_id} and variant_id = ${variant_id}
       and (${min_quantity}::integer is null or min_quantity = ${min_quantity})`)

export const listPrices = (db: Db, group_id: string, page: Page) =>
  readList(
    db,
    {
      shape: VariantPrice,
      table: sql`pricing_group_prices`,
      as: sql`pricing_group_prices`,
      scope: sql`pricing_group_prices.tenant_ref = ${db.tenant}
                 and pricing_group_prices.group_id = ${group_id}`,
      filters: [],
      key: [
        { name: sql`variant_id`, type: 'uuid' },
        { name: sql`min_quantity`, type: 'integer' },
      ],
      descending: false,
      columns: priceColumns,
    },
    page,
  )

/** All groups of a customer, each with all of its prices for these variants. */
export const listTerms = (db: Db, customer_ref: string, variant_ids: readonly string[]) =>
  db.many(
    GroupTerms,
    sql`
    select g.adjustment_bps, p.variant_id, p.price_cents, p.min_quantity
      from pricing_group_members m
      join pricing_groups g on g.tenant_ref = m.tenant_ref and g.id = m.group_id
      left join pricing_group_prices p
             on p.tenant_ref = m.tenant_ref and p.group_id = m.group_id
            and p.variant_id = any(${variant_ids}::uuid[])
     where m.tenant_ref = ${db.tenant} and m.customer_ref = ${customer_ref}`,
  )
