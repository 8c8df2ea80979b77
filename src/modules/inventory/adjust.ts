import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import type { KeepingCaller } from '../../platform/idempotency.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import {
  type Adjustment,
  type BulkAdjustment,
  type BulkResult,
  DEFAULT_LOCATION,
  type Level,
  type LevelKey,
  type Move,
  QUANTITY_MAX,
} from './schema.ts'
import { lockLocations } from './service.ts'
import { moveStock } from './stock-queries.ts'

/** Adjusts what is on hand: one level, or many by few statements. */

/** An adjustment of a level. `variant_id` is as the caller wrote it, `key` names the level. */
interface Row extends Omit<Adjustment, 'reason'> {
  variant_id: string
  location_id: string
  key: string
}

/** The change of a level; `by` is zero if the level already has the wanted number. */
interface Change {
  before: Level
  after: Level
  by: number
}

type Outcome = Change | ApiError

/**
 * Adjusts the units on hand at a location. The merchant's count is accepted even where it is less
 * than the units sold. With `expected_on_hand` the level is adjusted only if it is still at that
 * number.
 */
export function adjust(
  db: TenantDb,
  { actor, keep }: KeepingCaller,
  variant_id: string,
  { reason, ...adjustment }: Adjustment,
): Promise<Level> {
  return db.transaction('inventory: adjust', async (tx) => {
    const outcomes = await adjustRows(tx, actor, reason, [{ variant_id, ...adjustment }])
    const [outcome] = outcomes as [Outcome]
    if (outcome instanceof ApiError) throw outcome
    await keep(tx, { level: outcome.after })
    return outcome.after
  })
}

/** Adjusts many levels in one transaction. A refused row does not affect the others. */
export function adjustBulk(
  db: TenantDb,
  { actor, keep }: KeepingCaller,
  { reason, adjustments }: BulkAdjustment,
): Promise<BulkResult[]> {
  return db.transaction('inventory: adjust many', async (tx) => {
    const outcomes = await adjustRows(tx, actor, reason, adjustments)
    const results = adjustments.map(({ variant_id }, at) =>
      toResult(variant_id, outcomes[at] as Outcome),
    )
    await keep(tx, { results })
    return results
  })
}

function toResult(variant_id: string, outcome: Outcome): BulkResult {
  if (!(outcome instanceof ApiError)) return { variant_id, level: outcome.after, error: null }
  const { code, message } = outcome
  return { variant_id, level: null, error: { code, message } }
}

async function adjustRows(
  tx: Tx,
  actor: audit.Actor,
  reason: string,
  adjustments: BulkAdjustment['adjustments'],
): Promise<Outcome[]> {
  const rows = adjustments.map(({ location_id = DEFAULT_LOCATION, ...adjustment }): Row => {
    const variant = adjustment.variant_id.toLowerCase()
    return { ...adjustment, location_id, key: `${variant} ${location_id}` }
  })
  const refusals = await refuseUnknown(tx, rows)
  const places = rows.filter((_, at) => refusals[at] === null).map(placeOf)
  await queries.ensureLevels(tx, places)
  const locked = await queries.lockLevels(tx, places)
  const levels = new Map(
    locked.map(({ variant_id, ...level }) => [`${variant_id} ${level.location_id}`, level]),
  )
  const outcomes = rows.map((row, at) => refusals[at] ?? change(levels, row))
  await write(tx, actor, reason, { rows, outcomes })
  return outcomes
}

const placeOf = ({ variant_id, location_id }: Row): LevelKey => ({ variant_id, location_id })

/**
 * Checks the rows of a bulk adjustment. Returns the refusal of each row that names not exactly one of `delta` and
 * `set_on_hand`, or no variant or location of the store.
 */
async function refuseUnknown(tx: Tx, rows: readonly Row[]): Promise<(ApiError | null)[]> {
  const ids = rows.map(({ variant_id }) => variant_id).filter(isUuid)
  const variants = await queries.listVariants(tx, ids)
  const known = new Set(variants.map(({ variant_id }) => variant_id))
  const locations = await lockLocations(
    tx,
    rows.map(({ location_id }) => location_id),
  )
  return rows.map(({ variant_id, location_id, delta, set_on_hand }) => {
    if ((delta === undefined) === (set_on_hand === undefined)) {
      return invalidBody('delta', 'must be sent, or set_on_hand instead')
    }
    if (!known.has(variant_id.toLowerCase())) return new ApiError('variant_not_found')
    return locations.has(location_id) ? null : new ApiError('location_not_found')
  })
}

/** Changes a level in memory, so that a later row of the same level continues from there. */
function change(levels: Map<string, Level>, row: Row): Outcome {
  const before = levels.get(row.key) as Level
  const { delta, set_on_hand = 0, expected_on_hand } = row
  if (expected_on_hand !== undefined && expected_on_hand !== before.on_hand) {
    return refuse('stale_level', { body: { on_hand: before.on_hand } })
  }
  const by = delta ?? set_on_hand - before.on_hand
  const on_hand = before.on_hand + by
  if (by < 0 && on_hand < 0) return refuse('stock_below_zero')
  if (on_hand > QUANTITY_MAX) {
    return invalidBody('delta', `must leave at most ${QUANTITY_MAX} on hand`)
  }
  const after = { ...before, on_hand, available: before.available + by }
  levels.set(row.key, after)
  return { before, after, by }
}

async function write(
  tx: Tx,
  actor: audit.Actor,
  reason: string,
  { rows, outcomes }: { rows: readonly Row[]; outcomes: readonly Outcome[] },
): Promise<void> {
  const changes = rows.flatMap((row, at) => {
    const outcome = outcomes[at] as Outcome
    return outcome instanceof ApiError || outcome.by === 0 ? [] : [{ row, ...outcome }]
  })
  if (changes.length === 0) return
  // One statement changes a level only once, so the n-th change of each level is in the n-th statement.
  const ofLevel = [...Map.groupBy(changes, ({ row }) => row.key).values()]
  for (let n = 0; ofLevel.some((own) => own.length > n); n++) {
    const moves = ofLevel
      .flatMap((own) => own.slice(n, n + 1))
      .map(({ row, by }) => toMove(row, by))
    await moveStock(tx, moves, { actor: actor.name, reason })
  }
  // The reason is free text. It is stored with the movement and kept out of the audit log.
  await audit.recordAll(
    tx,
    actor,
    changes.map(({ row: { variant_id, location_id }, before, after }) => ({
      action: 'inventory.adjusted',
      entity: `variant:${variant_id.toLowerCase()}`,
      before: { location_id, on_hand: before.on_hand },
      after: { location_id, on_hand: after.on_hand },
    })),
  )
}

const toMove = ({ variant_id, location_id }: Row, on_hand: number): Move => ({
  variant_id,
  location_id,
  kind: 'adjusted',
  on_hand,
  allocated: 0,
  reserved: 0,
})
