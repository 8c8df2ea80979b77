import { type Static, Type } from 'typebox'
import type { Db, DueLists } from '../../db/database.ts'
import { readList } from '../../db/list.ts'
import { machineTime, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id, Nullable } from '../../kernel/schema.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'
import { StoreWithWork } from '../../platform/store-lists.ts'
import { CountedLevel, type Discrepancy, type LevelKey, SeenDiscrepancy } from './schema.ts'

/** The position of the recount of a store: the last level that it has passed. Null if it has not begun. */
export const Recount = Type.Object({
  variant_id: Nullable(Id),
  location_id: Nullable(Type.String()),
})
export type Recount = Static<typeof Recount>

/** The stores whose stock is recounted next: one row each, so that they take turns. */
export const recountQueue = defineQueue({
  table: sql`inventory_recounts`,
  due: sql`due_at`,
  time: machineTime,
  columns: sql`variant_id, location_id`,
  shape: Recount,
})

/**
 * Lists the stores that have stock and no row in the queue, as fd_worker. It steps from one store to the next by
 * the index, past all levels of each.
 */
export const listUnplanned = (worker: DueLists) =>
  worker.many(
    StoreWithWork,
    sql`
    with recursive tenants as (
      select min(tenant_ref) as tenant_ref from inventory_levels
      union all
      select (select min(l.tenant_ref) from inventory_levels l
               where l.tenant_ref > tenants.tenant_ref)
        from tenants
       where tenants.tenant_ref is not null
    )
    select tenant_ref
      from tenants
     where tenant_ref is not null
       and not exists (select from inventory_recounts r where r.tenant_ref = tenants.tenant_ref)`,
  )

/** Plans the first recount of a store. Repeated, it changes nothing. */
export const planRecount = (db: Db) =>
  db.run(sql`
    insert into inventory_recounts (tenant_ref, due_at) values (${db.tenant}, ${machineTime})
        on conflict do nothing`)

interface SliceOptions {
  after: LevelKey | null
  levels: number
  /** The most movements that are read of each level. */
  movements: number
}

/**
 * Reads the next levels of a store and adds their new movements to the stored sums. A sum that is old enough starts
 * again from the first movement. Why a position for each level: decision 0020.
 */
export const listCounted = (db: Db, { after, levels, movements }: SliceOptions) =>
  db.many(
    CountedLevel,
    sql`
    with page as materialized (
      select l.variant_id, l.location_id, l.on_hand, l.allocated, l.reserved, l.packed,
             c.seq is null or c.again_at <= ${machineTime} as is_again, c.seq as last_seq,
             c.on_hand as last_on_hand, c.allocated as last_allocated
        from (select *
                from inventory_levels
               where tenant_ref = ${db.tenant}
                 and (variant_id, location_id)
                     > (coalesce(${after?.variant_id ?? null}::uuid,
                                 '00000000-0000-0000-0000-000000000000'),
                        coalesce(${after?.location_id ?? null}::text, ''))
               order by variant_id, location_id
               limit ${levels}) as l
        left join inventory_counts c
               on c.tenant_ref = ${db.tenant} and c.variant_id = l.variant_id
              and c.location_id = l.location_id
    )
    select p.variant_id, p.location_id, p.on_hand, p.allocated, p.reserved, p.packed, p.is_again,
           coalesce(m.seq, s.seq) as seq, (s.on_hand + m.on_hand)::bigint as moved_on_hand,
           (s.allocated + m.allocated)::bigint as moved_allocated, m.added
      from page p
     cross join lateral (
           select case when p.is_again then 0 else p.last_seq end as seq,
                  case when p.is_again then 0 else p.last_on_hand end as on_hand,
                  case when p.is_again then 0 else p.last_allocated end as allocated) as s
     cross join lateral (
           select max(next.seq) as seq, count(*) as added,
                  coalesce(sum(quantity)
                           filter (where kind in ('received', 'shipped', 'adjusted',
                                                  'transferred')), 0) as on_hand,
                  coalesce(sum(quantity)
                           filter (where kind in ('allocated', 'released', 'shipped')), 0)
                    as allocated
             from (select seq, kind, quantity
                     from inventory_movements
                    where tenant_ref = ${db.tenant} and variant_id = p.variant_id
                      and location_id = p.location_id and seq > s.seq
                    order by seq
                    limit ${movements}) as next) as m
     order by p.variant_id, p.location_id`,
  )

const HeldSlice = Type.Object({
  count: Type.Integer(),
  last: Nullable(Id),
  reserved: Type.Integer(),
  allocated: Type.Integer(),
  packed: Type.Integer(),
})

/** Adds up a slice of the open reservations of a level, by the id of the order. */
export const sumHeld = (
  db: Db,
  { variant_id, location_id }: LevelKey,
  after: string | null,
  limit: number,
) =>
  db.one(
    HeldSlice,
    sql`
    select count(*) as count, (array_agg(order_id order by order_id desc))[1] as last,
           coalesce(sum(reserved), 0)::bigint as reserved,
           coalesce(sum(allocated), 0)::bigint as allocated,
           coalesce(sum(packed), 0)::bigint as packed
      from (select order_id, reserved, allocated, packed
              from inventory_reservations
             where tenant_ref = ${db.tenant} and variant_id = ${variant_id}
               and location_id = ${location_id}
               and order_id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
               and (reserved > 0 or allocated > 0)
             order by order_id
             limit ${limit}) as slice`,
  )

/**
 * Stores the sums of levels. A sum that has started again does so next after the period; a first sum at a random
 * time within it, so that the levels of a store do not all start again on the same day.
 */
export const saveCounts = (db: Db, counted: readonly CountedLevel[], periodDays: number) =>
  db.run(sql`
    insert into inventory_counts as c
           (tenant_ref, variant_id, location_id, seq, on_hand, allocated, again_at)
    select ${db.tenant}, n.variant_id, n.location_id, n.seq, n.on_hand, n.allocated,
           case when n.is_again then ${machineTime} + make_interval(days => ${periodDays}) * random()
                else 'infinity' end
      from unnest(${counted.map((each) => each.variant_id)}::uuid[],
                  ${counted.map((each) => each.location_id)}::text[],
                  ${counted.map((each) => each.seq)}::bigint[],
                  ${counted.map((each) => each.moved_on_hand)}::bigint[],
                  ${counted.map((each) => each.moved_allocated)}::bigint[],
                  ${counted.map((each) => each.is_again)}::boolean[])
           as n (variant_id, location_id, seq, on_hand, allocated, is_again)
        on conflict (tenant_ref, variant_id, location_id) do update
       set seq = excluded.seq, on_hand = excluded.on_hand, allocated = excluded.allocated,
           again_at = case when excluded.again_at = 'infinity' then c.again_at
                           else ${machineTime} + make_interval(days => ${periodDays}) end`)

/** Records counters that are wrong. For a counter that is already recorded, it records that it was seen again. */
export const recordDiscrepancies = (db: Db, found: readonly Discrepancy[]) =>
  db.run(sql`
    insert into inventory_discrepancies
           (tenant_ref, variant_id, location_id, counter, kept, counted)
    select ${db.tenant}, d.*
      from unnest(${found.map((each) => each.variant_id)}::uuid[],
                  ${found.map((each) => each.location_id)}::text[],
                  ${found.map((each) => each.counter)}::text[],
                  ${found.map((each) => each.kept)}::bigint[],
                  ${found.map((each) => each.counted)}::bigint[]) as d
        on conflict (tenant_ref, variant_id, location_id, counter) do update
       set kept = excluded.kept, counted = excluded.counted, last_seen_at = fd_now()`)

/** Counters that the recount found to be wrong, by variant. */
export const listDiscrepancies = (db: Db, page: Page) =>
  readList(
    db,
    {
      shape: SeenDiscrepancy,
      table: sql`inventory_discrepancies`,
      as: sql`d`,
      scope: sql`d.tenant_ref = ${db.tenant}`,
      filters: [],
      key: [
        { name: sql`variant_id`, type: 'uuid' },
        { name: sql`location_id`, type: 'text' },
        { name: sql`counter`, type: 'text' },
      ],
      descending: false,
      columns: sql`d.variant_id, d.location_id, d.counter, d.kept, d.counted, d.first_seen_at,
                   d.last_seen_at`,
    },
    page,
  )

/** Continues the recount of a store at once, after this level. */
export const continueAfter = (db: Db, lease: Lease, { variant_id, location_id }: Recount) =>
  recountQueue.finish(
    db,
    lease,
    sql`
    variant_id = ${variant_id}, location_id = ${location_id}, due_at = ${machineTime},
    begun_at = case when inventory_recounts.variant_id is null
                    then ${machineTime} else begun_at end`,
  )

/** Ends the recount of a store: the next one is a day after this one began. */
export const endRecount = (db: Db, lease: Lease) =>
  recountQueue.finish(
    db,
    lease,
    sql`
    variant_id = null, location_id = null, ended_at = ${machineTime},
    due_at = coalesce(begun_at, ${machineTime}) + interval '1 day', begun_at = null`,
  )
