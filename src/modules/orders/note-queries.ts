import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Note, SHOWN_MAX, TimelineEntry } from './schema.ts'

export const insertNote = (
  tx: Tx,
  orderId: string,
  { note, actor }: Pick<Note, 'note' | 'actor'>,
) =>
  tx.one(
    Note,
    sql`
    insert into order_notes (tenant_ref, order_id, note, actor)
    values (${tx.tenant}, ${orderId}, ${note}, ${actor})
    returning id, note, actor, created_at`,
  )

/** Lists the newest notes of an order, the oldest of them first. */
export const listNotes = (db: Db, orderId: string) =>
  db.many(
    Note,
    sql`
    select *
      from (select id, note, actor, created_at
              from order_notes
             where tenant_ref = ${db.tenant} and order_id = ${orderId}
             order by created_at desc, id desc
             limit ${SHOWN_MAX}) as newest
     order by created_at, id`,
  )

/** Deletes a note. Returns null where the order has none of that id. */
export const deleteNote = (tx: Tx, orderId: string, id: string) =>
  tx.maybe(
    Note,
    sql`
    delete from order_notes
     where tenant_ref = ${tx.tenant} and order_id = ${orderId} and id = ${id}
    returning id, note, actor, created_at`,
  )

export const countNotes = async (db: Db, orderId: string): Promise<number> => {
  const { notes } = await db.one(
    Type.Object({ notes: Type.Integer() }),
    sql`
    select count(*) as notes from order_notes
     where tenant_ref = ${db.tenant} and order_id = ${orderId}`,
  )
  return notes
}

/** Lists the newest entries of an order's timeline, the oldest of them first. */
export const listTimeline = (db: Db, orderId: string) =>
  db.many(
    TimelineEntry,
    sql`
    select type, actor, at, data
      from (select id, type, actor, at, data
              from order_timeline
             where tenant_ref = ${db.tenant} and order_id = ${orderId}
             order by id desc
             limit ${SHOWN_MAX}) as newest
     order by id`,
  )

/** Lists all entries of an order's timeline, oldest first. */
export const listTimelinePage = (db: Db, orderId: string, page: Page) =>
  readList(
    db,
    {
      shape: TimelineEntry,
      table: sql`order_timeline`,
      as: sql`t`,
      scope: sql`t.tenant_ref = ${db.tenant} and t.order_id = ${orderId}`,
      filters: [],
      key: [{ name: sql`id`, type: 'integer' }],
      descending: false,
      columns: sql`t.type, t.actor, t.at, t.data`,
    },
    page,
  )

export const setTestFlag = (tx: Tx, orderId: string, isTest: boolean) =>
  tx.run(sql`
    update orders set is_test = ${isTest}, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${orderId}`)
