import type { Db, Tx } from '../../db/database.ts'
import { forHeavyRead, NEWEST_KEY, readList } from '../../db/list.ts'
import { sql, unnamed } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { peopleIn } from './compile-queries.ts'
import { Counted, type Group, Member, SamplePerson, Segment } from './schema.ts'

const columns = sql`g.id, g.name, g.match, g.conditions, g.created_at, g.updated_at`

interface SegmentRow extends Group {
  name: string
}

export const insert = (tx: Tx, { name, match, conditions }: SegmentRow) =>
  tx.one(
    Segment,
    sql`
    insert into segments as g (tenant_ref, name, match, conditions)
    values (${tx.tenant}, ${name}, ${match}, ${JSON.stringify(conditions)}::jsonb)
    returning ${columns}`,
  )

export const update = (tx: Tx, id: string, { name, match, conditions }: SegmentRow) =>
  tx.one(
    Segment,
    sql`
    update segments as g
       set name = ${name}, match = ${match}, conditions = ${JSON.stringify(conditions)}::jsonb,
           updated_at = fd_now()
     where g.tenant_ref = ${tx.tenant} and g.id = ${id}
    returning ${columns}`,
  )

export const remove = (tx: Tx, id: string) =>
  tx.run(sql`delete from segments where tenant_ref = ${tx.tenant} and id = ${id}`)

export const find = (db: Db, id: string) =>
  db.maybe(
    Segment,
    sql`select ${columns} from segments g where g.tenant_ref = ${db.tenant} and g.id = ${id}`,
  )

export const lock = (tx: Tx, id: string) =>
  tx.maybe(
    Segment,
    sql`
    select ${columns} from segments g
     where g.tenant_ref = ${tx.tenant} and g.id = ${id}
       for update`,
  )

/** Lists the segments of the store, newest first. */
export const list = (db: Db, page: Page) =>
  readList(
    db,
    {
      shape: Segment,
      table: sql`segments`,
      as: sql`g`,
      scope: sql`g.tenant_ref = ${db.tenant}`,
      filters: [],
      key: NEWEST_KEY,
      descending: true,
      columns,
    },
    page,
  )

export const count = (db: Db, group: Group) =>
  forHeavyRead(db).one(
    Counted,
    unnamed(sql`
    select count(*)::int as count, count(*) filter (where p.consent = 'given')::int as consented_count
      from segment_people p
     where ${peopleIn(db, group)}`),
  )

export const listSample = (db: Db, group: Group, limit: number) =>
  forHeavyRead(db).many(
    SamplePerson,
    unnamed(sql`
    select p.email, p.customer_ref, p.orders_count, p.total_spent_cents, p.last_order_at, p.consent
      from segment_people p
     where ${peopleIn(db, group)}
     order by p.email_folded
     limit ${limit}`),
  )

/** Lists one page of the people by address. The address is the key of the table, so that each person comes once. */
export const listMembers = (db: Db, group: Group, after: string, limit: number) =>
  forHeavyRead(db).many(
    Member,
    unnamed(sql`
    select p.email, p.email_folded, p.customer_ref
      from segment_people p
     where ${peopleIn(db, group)} and p.email_folded > ${after}
     order by p.email_folded
     limit ${limit}`),
  )
