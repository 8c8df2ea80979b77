import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Note, TimelineEntry } from './schema.ts'

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

export const listNotes = (db: Db, orderId: string) =>
  db.many(
    Note,
    sql`
    select id, note, actor, created_at
      from order_notes
     where tenant_ref = ${db.tenant} and order_id = ${orderId}
     order by created_at, id`,
  )

export const listTimeline = (db: Db, orderId: string) =>
  db.many(
    TimelineEntry,
    sql`
    select type, actor, at, data
      from order_timeline
     where tenant_ref = ${db.tenant} and order_id = ${orderId}
     order by id`,
  )

export const setTestFlag = (tx: Tx, orderId: string, isTest: boolean) =>
  tx.run(sql`
    update orders set is_test = ${isTest}, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${orderId}`)
