import { awaitAll } from '../../db/await-all.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { isoNow } from '../../kernel/clock.ts'
import { newId } from '../../kernel/id.ts'
import { sum } from '../../kernel/money.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { actorOf, isShopper } from '../orders/actor.ts'
import type { Fulfillment } from '../orders/parcel-schema.ts'
import type { Return, ReturnState } from '../orders/return-schema.ts'
import type { OrderItem, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { returnApproved, returnRequested } from './events.ts'
import { expectedOf } from './plan-receipt.ts'
import { exceedsReturnable, readReturnable, requireReturnable } from './policy.ts'
import * as queries from './queries.ts'
import type { Approval, NewReturn, RequestedUnits, ReturnRequest, ReturnRow } from './schema.ts'
import { forEvent, forShopper, shown } from './show.ts'

/**
 * Returns: made by a shopper or a merchant, approved, declined, cancelled, closed. `receive-money.ts` receives
 * their units. A return changes only under the lock of its order, which is taken before that of stock.
 */

export interface ReturnDeps {
  /** Lists the parcels of an order, from which the window of a shopper is counted. */
  listFulfillments: (db: Db, order_id: string) => Promise<Fulfillment[]>
}

export async function list(db: Db, filters: queries.ReturnFilters, page: Page) {
  const { rows, shown: part } = await queries.list(db, filters, page)
  return { returns: rows.map(shown), ...part }
}

export async function find(db: Db, id: string): Promise<ReturnRow> {
  const row = isUuid(id) ? await queries.find(db, id) : null
  if (row === null) throw new ApiError('return_not_found')
  return row
}

export const get = async (db: Db, id: string): Promise<Return> => shown(await find(db, id))

/** The returns of an order, the first one first. */
export const listOfOrder = async (db: Db, order_id: string): Promise<Return[]> =>
  (await queries.listOfOrders(db, [order_id])).map(shown)

/** Reads the returns of an order as its shopper sees them, and the units that the shopper can send back. */
export async function readForShopper(
  db: Db,
  { id }: OrderRow,
  items: readonly OrderItem[],
  fulfillments: readonly Fulfillment[],
) {
  const [rows, returnable] = await Promise.all([
    queries.listOfOrders(db, [id]),
    readReturnable(db, { items, fulfillments }),
  ])
  return { returns: rows.map(forShopper), returnable }
}

/** A return with its order, both locked. */
export interface LockedReturn {
  returned: ReturnRow
  order: OrderRow
}

export async function lockReturn(tx: Tx, id: string): Promise<LockedReturn> {
  const { order_id } = await find(tx, id)
  const order = await orders.lock(tx, order_id)
  // Read again: it may have changed before the lock was free.
  return { returned: await find(tx, id), order }
}

const ALLOWED: Record<ReturnState, readonly string[]> = {
  requested: ['approve', 'decline', 'cancel'],
  approved: ['receive', 'close', 'cancel', 'exchange'],
  partially_received: ['receive', 'close', 'exchange'],
  received: ['close', 'exchange'],
  declined: [],
  closed: ['exchange'],
  cancelled: [],
}

export type ReturnAction = 'approve' | 'decline' | 'cancel' | 'receive' | 'close' | 'exchange'

export function requireState({ status }: ReturnRow, action: ReturnAction): void {
  const allowed = ALLOWED[status]
  if (allowed.includes(action)) return
  throw new ApiError('invalid_transition', { body: { current_status: status, allowed } })
}

/** Creates a return for a merchant, of any units that have shipped. It is approved at once. */
export function create(db: TenantDb, actor: audit.Actor, request: NewReturn): Promise<Return> {
  return db.transaction('returns: create', async (tx) => {
    const order = await orders.lock(tx, request.order_id)
    const lines = readLines(request.lines)
    const items = await orders.listItems(tx, order.id)
    requireShipped(lines, items)
    requireAllowed(order)
    const { note = null, instructions = null, label_url = null } = request
    const more = { note, instructions, label_url }
    return shown(await insert(tx, actor, { order, items, lines, ...more, by: 'merchant' }))
  })
}

interface Request extends ReturnDeps {
  actor: audit.Actor
  claim: idempotency.WonClaim
}

/**
 * Creates a return for a shopper who asks to send units back, as the store's site allows it.
 * Stores the answer under the key.
 */
export function request(
  db: TenantDb,
  { actor, claim, listFulfillments }: Request,
  orderId: string,
  body: ReturnRequest,
): Promise<idempotency.StoredAnswer> {
  return db.transaction('returns: request', async (tx) => {
    const order = await orders.lock(tx, orderId)
    if (order.customer_ref !== body.customer_ref) throw new ApiError('order_not_found')
    const lines = readLines(body.lines)
    const [items, fulfillments] = await awaitAll([
      orders.listItems(tx, order.id),
      listFulfillments(tx, order.id),
    ])
    requireReturnable(lines, items, await readReturnable(tx, { items, fulfillments }))
    requireAllowed(order)
    const none = { note: null, instructions: null, label_url: null }
    const made = await insert(tx, actor, { order, items, lines, ...none, by: 'shopper' })
    const held = await idempotency.advance(tx, claim, 'requested', made.id)
    return idempotency.finish(tx, held, 201, JSON.stringify({ return: forShopper(made) }))
  })
}

/** Returns the lines with our spelling of their ids. Refuses a line that is named twice. */
function readLines(lines: RequestedUnits): RequestedUnits {
  const requested = lines.map((line) => ({
    ...line,
    order_item_id: line.order_item_id.toLowerCase(),
  }))
  const ids = new Set(requested.map(({ order_item_id }) => order_item_id))
  if (ids.size < requested.length) throw invalidBody('lines', 'must name each line only once')
  return requested
}

/** Refuses more units than have shipped and are in no return. */
function requireShipped(lines: RequestedUnits, items: readonly OrderItem[]): void {
  const tooMany = lines.flatMap(({ order_item_id, quantity: requested }) => {
    const item = items.find(({ id }) => id === order_item_id)
    if (item === undefined) throw new ApiError('order_item_not_found')
    const left = item.shipped_quantity - item.returning_quantity - item.returned_quantity
    return requested > left ? [{ order_item_id, requested, left }] : []
  })
  if (tooMany.length > 0) throw exceedsReturnable(tooMany)
}

/** Refuses an order that allows no return: no unit has shipped, or the order is busy. */
const requireAllowed = (order: OrderRow): void => orders.requireAllowed(order, 'return')

/** The most returns of an order, with those that were declined. No order needs as many. */
const RETURNS_MAX = 200

interface NewRow extends Pick<ReturnRow, 'note' | 'instructions' | 'label_url'> {
  order: OrderRow
  items: readonly OrderItem[]
  lines: RequestedUnits
  by: 'shopper' | 'merchant'
}

async function insert(tx: Tx, actor: audit.Actor, made: NewRow): Promise<ReturnRow> {
  const { order, lines, by, note, instructions, label_url } = made
  const { last } = await queries.lastNumber(tx, order.id)
  if (last >= RETURNS_MAX) throw tooMany(last)
  const at = isoNow(tx.clock)
  const id = newId()
  await queries.insertReturn(tx, {
    id,
    order_id: order.id,
    number: last + 1,
    return_number: `${order.order_number}-R${last + 1}`,
    status: by === 'merchant' ? 'approved' : 'requested',
    requested_by: by,
    note,
    instructions,
    label_url,
    created_by: actorOf(actor),
    created_at: at,
    approved_at: by === 'merchant' ? at : null,
    lines: lines.map((line) => toLine(line, made.items)),
  })
  const units = lines.map(({ order_item_id, quantity }) => ({ order_item_id, returning: quantity }))
  const [changed = order] = await orders.changeUnits(tx, [{ order, units }])
  const row = await find(tx, id)
  const type = by === 'merchant' ? 'created' : 'requested'
  await awaitAll([
    record(tx, actor, row, { verb: type }),
    returnRequested.emit(tx, changed, { return: forEvent(row) }),
    by === 'merchant' && emitApproved(tx, changed, row),
  ])
  return row
}

const emitApproved = (tx: Tx, order: OrderRow, row: ReturnRow) =>
  returnApproved.emit(tx, order, { return: forEvent(row) })

const tooMany = (used: number) =>
  new ApiError('limit_reached', {
    message: `An order has at most ${RETURNS_MAX} returns, declined ones included.`,
    body: { limit: 'returns_per_order', max: RETURNS_MAX, used },
  })

function toLine(
  { order_item_id, quantity, reason = null }: RequestedUnits[number],
  items: readonly OrderItem[],
) {
  const item = items.find(({ id }) => id === order_item_id) as OrderItem
  const { variant_id, sku, product_name, label } = item
  return { order_item_id, variant_id, sku, product_name, label, reason, quantity }
}

/** Returns the facts of a return for a timeline and an audit entry. They have no texts of people. */
const briefOf = ({ id, return_number, lines }: ReturnRow) => ({
  return_id: id,
  return_number,
  units: sum(lines.map(({ quantity }) => quantity)),
})

/** Records a change of a return in the timeline of its order and in the audit log. */
export const record = (
  tx: Tx,
  actor: audit.Actor,
  row: ReturnRow,
  { verb, ...more }: { verb: string } & Record<string, unknown>,
) => {
  const name = actorOf(actor)
  return awaitAll([
    orders.addToTimeline(tx, row.order_id, {
      type: `return_${verb}`,
      actor: name,
      data: { ...briefOf(row), ...more },
    }),
    // Acts of shoppers are in the order's timeline only.
    !isShopper(name) &&
      audit.record(tx, actor, {
        action: `return.${verb}`,
        entity: `return:${row.id}`,
        after: { status: row.status, order_id: row.order_id, ...more },
      }),
  ])
}

/** Approves a return: the shopper may send the units. */
export const approve = (
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  { instructions = null, label_url = null }: Approval,
): Promise<Return> =>
  change(db, actor, id, {
    action: 'approve',
    verb: 'approved',
    next: (row, at) => ({ ...row, status: 'approved', instructions, label_url, approved_at: at }),
  })

export const decline = (
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  decline_reason: string,
): Promise<Return> =>
  change(db, actor, id, {
    action: 'decline',
    verb: 'declined',
    next: (row, at) => ({ ...row, status: 'declined', decline_reason, declined_at: at }),
  })

export const cancel = (db: TenantDb, actor: audit.Actor, id: string): Promise<Return> =>
  change(db, actor, id, {
    action: 'cancel',
    verb: 'cancelled',
    next: (row, at) => {
      requireNoExchange(row)
      return { ...row, status: 'cancelled', cancelled_at: at }
    },
  })

/**
 * Refuses to cancel a return while an exchange has its money, because a cancelled return counts as never
 * made. The merchant cancels the order of the exchange first, or closes the return, and the goods of the
 * exchange are lost to the shopper.
 */
function requireNoExchange({ exchanges }: ReturnRow): void {
  const open = exchanges.filter(({ status }) => status !== 'released')
  if (open.length === 0) return
  const order_ids = open.map(({ order_id }) => order_id)
  throw new ApiError('exchange_open', { body: { order_ids } })
}

/** Closes a return: nothing more is expected. Units that have not come can be in another return. */
export const close = (db: TenantDb, actor: audit.Actor, id: string): Promise<Return> =>
  change(db, actor, id, { action: 'close', verb: 'closed', next: closed })

export const closed = (row: ReturnRow, at: string): ReturnRow => ({
  ...row,
  status: 'closed',
  closed_at: at,
})

interface Change {
  action: ReturnAction
  verb: string
  next: (row: ReturnRow, at: string) => ReturnRow
}

/** States in which units are expected. */
const OPEN: readonly ReturnState[] = ['requested', 'approved', 'partially_received']

function change(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  { action, verb, next }: Change,
): Promise<Return> {
  return db.transaction(`returns: ${action}`, async (tx) => {
    const { returned, order } = await lockReturn(tx, id)
    requireState(returned, action)
    const at = isoNow(tx.clock)
    const row = { ...next(returned, at), updated_at: at }
    await queries.writeReturn(tx, row)
    if (!OPEN.includes(row.status)) await free(tx, order, returned)
    await record(tx, actor, row, { verb })
    if (action === 'approve') await emitApproved(tx, order, row)
    return shown(row)
  })
}

/** Releases the units that a return no longer expects, so that they can be in another one. */
async function free(tx: Tx, order: OrderRow, { lines }: ReturnRow): Promise<void> {
  const units = lines
    .filter((line) => expectedOf(line) > 0)
    .map((line) => ({ order_item_id: line.order_item_id, returning: -expectedOf(line) }))
  if (units.length > 0) await orders.changeUnits(tx, [{ order, units }])
}
