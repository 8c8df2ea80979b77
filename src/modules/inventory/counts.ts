import { mapViolations } from '../../db/constraints.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import type { KeepingCaller } from '../../platform/idempotency.ts'
import * as counts from './count-queries.ts'
import {
  COUNT_LINES_MAX,
  type Count,
  type CountedLines,
  type CountHead,
  type CountLine,
  type CountPosting,
  type NewCount,
} from './count-schema.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import { type Move, QUANTITY_MAX } from './schema.ts'
import { requireLocations } from './service.ts'
import { moveStock } from './stock-queries.ts'

/**
 * Cycle counts. A count records which units are expected, people enter the units that they find, and posting adds
 * the difference to the units that are on hand by then. It never sets a level to the number that was found: units
 * that were sold and shipped meanwhile have already left the level, and would come back, or leave twice.
 */

export async function list(db: Db, filters: counts.CountFilters, page: Page) {
  const { rows, shown } = await counts.listCounts(db, filters, page)
  return { counts: rows, ...shown }
}

export async function get(db: Db, id: string): Promise<Count> {
  const count = isUuid(id) ? await counts.findCount(db, id) : null
  if (count === null) throw refuse('count_not_found')
  return count
}

/** Begins a count of the named variants, or of all that have a level at the location. */
export function begin(db: TenantDb, actor: audit.Actor, request: NewCount): Promise<Count> {
  const { location_id } = request
  return db.transaction('inventory: begin a count', async (tx) => {
    await requireLocations(tx, location_id)
    const variant_ids = await variantsOf(tx, request)
    const id = newId()
    await counts.insertCount(tx, { id, location_id, created_by: actor.name })
    const places = variant_ids.map((variant_id) => ({ variant_id, location_id }))
    await queries.ensureLevels(tx, places)
    // The levels are locked, so that each movement is either in the expected units or comes after them.
    await queries.lockLevels(tx, places)
    await mapViolations(
      counts.insertLines(tx, id, location_id, variant_ids),
      {
        stock_count_lines_open: 'count_in_progress',
      },
      refuse,
    )
    await audit.record(tx, actor, {
      action: 'inventory.count_begun',
      entity: `stock_count:${id}`,
      after: { location_id, lines: variant_ids.length },
    })
    return get(tx, id)
  })
}

async function variantsOf(tx: Tx, { location_id, variant_ids }: NewCount): Promise<string[]> {
  if (variant_ids === undefined) {
    const found = await counts.listVariantsAt(tx, location_id, COUNT_LINES_MAX + 1)
    if (found.length > COUNT_LINES_MAX) {
      throw invalidBody('variant_ids', `must name at most ${COUNT_LINES_MAX} variants`)
    }
    return found.map(({ variant_id }) => variant_id)
  }
  const requested = [...new Set(variant_ids.map((id) => id.toLowerCase()))]
  const known = await queries.listVariants(tx, requested.filter(isUuid))
  if (known.length < requested.length) throw new ApiError('variant_not_found')
  return requested
}

async function lockOpen(tx: Tx, id: string): Promise<CountHead> {
  const count = isUuid(id) ? await counts.lockCount(tx, id) : null
  if (count === null) throw refuse('count_not_found')
  if (count.status === 'open') return count
  throw new ApiError('invalid_transition', {
    body: { current_status: count.status, allowed: [] },
  })
}

/** Enters the units that were found. A line can be entered again until the count is posted. */
export function enter(
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  { lines }: CountedLines,
): Promise<Count> {
  const entered = lines.map(({ variant_id, counted, as_of = 'beginning', reason = null }) => ({
    variant_id: variant_id.toLowerCase(),
    counted,
    as_of,
    reason,
  }))
  if (new Set(entered.map(({ variant_id }) => variant_id)).size < entered.length) {
    throw invalidBody('lines', 'must name each variant once')
  }
  if (!entered.every(({ variant_id }) => isUuid(variant_id)))
    throw new ApiError('variant_not_found')
  return db.transaction('inventory: enter a count', async (tx) => {
    const { location_id } = await lockOpen(tx, id)
    const now = entered.filter(({ as_of }) => as_of === 'now')
    await queries.lockLevels(
      tx,
      now.map(({ variant_id }) => ({ variant_id, location_id })),
    )
    const written = await counts.writeLines(tx, id, entered)
    if (written < entered.length) throw new ApiError('variant_not_found')
    await counts.touchCount(tx, id)
    await audit.record(tx, actor, {
      action: 'inventory.count_entered',
      entity: `stock_count:${id}`,
      after: { lines: entered.length },
    })
    return get(tx, id)
  })
}

/** The reason of a difference for which none was given. */
const COUNTED = 'cycle count'

/** Posts the differences of the lines that were counted. The others stay as they are. */
export function post(
  db: TenantDb,
  { actor, keep }: KeepingCaller,
  id: string,
  { reason = COUNTED }: CountPosting,
): Promise<Count> {
  return db.transaction('inventory: post a count', async (tx) => {
    const { location_id } = await lockOpen(tx, id)
    await requireLocations(tx, location_id)
    const { lines } = await get(tx, id)
    const changed = lines.filter(({ difference }) => difference !== null && difference !== 0)
    const places = changed.map(({ variant_id }) => ({ variant_id, location_id }))
    const levels = await queries.lockLevels(tx, places)
    requireUnits(levels, changed)
    if (changed.length > 0) {
      const moves = changed.map((line) => moveOf(line, location_id))
      await moveStock(tx, moves, { actor: actor.name, reason, count_id: id })
    }
    await counts.endCount(tx, id, 'posted')
    await audit.record(tx, actor, {
      action: 'inventory.count_posted',
      entity: `stock_count:${id}`,
      after: {
        location_id,
        counted: lines.filter(({ counted }) => counted !== null).length,
        differences: changed.length,
      },
    })
    const count = await get(tx, id)
    await keep(tx, { count })
    return count
  })
}

/** Refuses lines with more missing units than the level has: such a line was counted wrong. */
function requireUnits(levels: readonly queries.PlacedLevel[], lines: readonly CountLine[]): void {
  const onHand = new Map(levels.map(({ variant_id, on_hand }) => [variant_id, on_hand]))
  const items = lines.map(({ variant_id, difference }) => ({
    variant_id,
    difference: difference ?? 0,
    on_hand: onHand.get(variant_id) ?? 0,
  }))
  const below = items.filter(
    ({ difference, on_hand }) => difference < 0 && on_hand + difference < 0,
  )
  if (below.length > 0) throw refuse('stock_below_zero', { body: { items: below } })
  if (items.some(({ difference, on_hand }) => on_hand + difference > QUANTITY_MAX)) {
    throw invalidBody('lines', `must leave at most ${QUANTITY_MAX} on hand`)
  }
}

const moveOf = ({ variant_id, difference, reason }: CountLine, location_id: string): Move => ({
  variant_id,
  location_id,
  kind: 'adjusted',
  on_hand: difference ?? 0,
  allocated: 0,
  reserved: 0,
  reason,
})

/** Ends a count without a change. */
export function cancel(db: TenantDb, actor: audit.Actor, id: string): Promise<Count> {
  return db.transaction('inventory: cancel a count', async (tx) => {
    await lockOpen(tx, id)
    await counts.endCount(tx, id, 'cancelled')
    await audit.record(tx, actor, {
      action: 'inventory.count_cancelled',
      entity: `stock_count:${id}`,
    })
    return get(tx, id)
  })
}
