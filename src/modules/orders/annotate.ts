import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { isoNow } from '../../kernel/clock.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { refuse } from './errors.ts'
import { orderHeld } from './events.ts'
import {
  countNotes,
  deleteNote as removeNote,
  setTestFlag as writeTestFlag,
} from './note-queries.ts'
import { MERCHANT_HOLD, type MerchantOrder, type Note, type OrderRow, SHOWN_MAX } from './schema.ts'
import * as orders from './service.ts'
import { forMerchant } from './show.ts'

/** Changes of an order by merchants and operators that move no money: notes, holds, flags. */

export function noteOrder(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  note: string,
): Promise<Note> {
  return db.transaction('orders: add a note', async (tx) => {
    // The lock serialises two requests, so that both notes are counted.
    const order = await orders.lock(tx, id)
    const used = await countNotes(tx, order.id)
    if (used >= SHOWN_MAX) {
      throw new ApiError('limit_reached', {
        message: `An order has at most ${SHOWN_MAX} notes. Keep longer records elsewhere.`,
        body: { limit: 'order_notes', max: SHOWN_MAX, used },
      })
    }
    const written = await orders.addNote(tx, order.id, { note, actor: actor.name })
    // The text is only in the note, where it can be erased.
    const data = { note_id: written.id }
    await Promise.all([
      orders.addToTimeline(tx, order.id, { type: 'noted', actor: actor.name, data }),
      audit.record(tx, actor, { action: 'order.noted', entity: `order:${order.id}`, after: data }),
    ])
    return written
  })
}

/**
 * Deletes a note, such as one about another person. A note is never changed: its readers must know who wrote it. The
 * timeline and the audit log keep that there was one.
 */
export function deleteNote(
  db: TenantDb,
  actor: audit.Actor,
  { id, note_id }: { id: string; note_id: string },
): Promise<{ id: string; deleted: true }> {
  return db.transaction('orders: delete a note', async (tx) => {
    const order = await orders.get(tx, id)
    const gone = isUuid(note_id) ? await removeNote(tx, order.id, note_id) : null
    if (gone === null) throw refuse('note_not_found')
    const data = { note_id: gone.id }
    await Promise.all([
      orders.addToTimeline(tx, order.id, { type: 'note_deleted', actor: actor.name, data }),
      audit.record(tx, actor, {
        action: 'order.note_deleted',
        entity: `order:${order.id}`,
        before: { ...data, written_by: gone.actor, written_at: gone.created_at },
        after: data,
      }),
    ])
    return { id: gone.id, deleted: true }
  })
}

/** Holds an order: it must not ship until it is released. */
export function holdOrder(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  reason: string | null | undefined,
): Promise<MerchantOrder> {
  const work: Work = async (tx, order) => {
    const { name: by } = actor
    const at = isoNow(tx.clock)
    const held = await orders.change(tx, order, {
      hold: { reason: reason ?? MERCHANT_HOLD, by, at },
    })
    await orders.addToTimeline(tx, order.id, { type: 'held', actor: by })
    await orderHeld.emit(tx, held, {})
    return held
  }
  return changeOrder(db, actor, id, { verb: 'hold', action: 'order.held', work })
}

/** Marks an order as being processed. */
export function processOrder(db: TenantDb, actor: audit.Actor, id: string): Promise<MerchantOrder> {
  const work: Work = async (tx, order) => {
    const changed = await orders.change(tx, order, { processing_at: isoNow(tx.clock) })
    await orders.addToTimeline(tx, order.id, { type: 'processing', actor: actor.name })
    return changed
  }
  return changeOrder(db, actor, id, { verb: 'process', action: 'order.processing', work })
}

type Work = (tx: Tx, order: OrderRow) => Promise<OrderRow>

/** One change of an order, and the name of it in the audit log. */
interface OrderAct {
  verb: 'hold' | 'process'
  action: string
  work: Work
}

async function changeOrder(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  { verb, action, work }: OrderAct,
): Promise<MerchantOrder> {
  return db.transaction(`orders: ${verb}`, async (tx) => {
    const order = await orders.lock(tx, id)
    orders.requireAllowed(order, verb)
    const after = await work(tx, order)
    await audit.record(tx, actor, {
      action,
      entity: `order:${order.id}`,
      before: { status: order.status },
      after: { status: after.status },
    })
    return forMerchant(after)
  })
}

/** Called when an order is flagged, in the same transaction. */
export type OnTestFlag = (tx: Tx, order: OrderRow, is_test: boolean) => Promise<unknown>

/** Flags a test order, which money reports leave out: `onTestFlag` removes it from them. */
export function setTestFlag(
  db: TenantDb,
  actor: audit.Actor,
  { id, is_test }: { id: string; is_test: boolean },
  onTestFlag: OnTestFlag,
): Promise<MerchantOrder> {
  return db.transaction('orders: flag as a test', async (tx) => {
    const order = await orders.lock(tx, id)
    if (order.is_test === is_test) return forMerchant(order)
    await writeTestFlag(tx, order.id, is_test)
    await Promise.all([
      orders.addToTimeline(tx, order.id, {
        type: 'test_flag',
        actor: actor.name,
        data: { is_test },
      }),
      audit.record(tx, actor, {
        action: 'order.test_flag',
        entity: `order:${order.id}`,
        before: { is_test: order.is_test },
        after: { is_test },
      }),
    ])
    await onTestFlag(tx, order, is_test)
    return forMerchant(await orders.get(tx, order.id))
  })
}
