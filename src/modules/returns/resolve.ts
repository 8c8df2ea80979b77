import type { TenantDb, Tx } from '../../db/database.ts'
import { isoNow } from '../../kernel/clock.ts'
import { sum } from '../../kernel/money.ts'
import type * as audit from '../../platform/audit.ts'
import * as returnStock from '../inventory/return-stock.ts'
import { DEFAULT_LOCATION, type PlacedUnits } from '../inventory/schema.ts'
import * as inventory from '../inventory/service.ts'
import { refuse } from './errors.ts'
import { exceedsExpected, unsettledOf } from './plan-receipt.ts'
import * as queries from './queries.ts'
import { readSettlement } from './receipt-queries.ts'
import type { Resolution, ReturnLineRow, ReturnRow } from './schema.ts'
import { closed, lockReturn, record } from './service.ts'
import { shown } from './show.ts'

/** Quarantine: units that came back and are set aside until the merchant has examined them. */

/** Resolves units that are set aside: they are restocked or written off. */
export function resolve(db: TenantDb, actor: audit.Actor, id: string, request: Resolution) {
  return db.transaction('returns: resolve', async (tx) => {
    const { returned } = await lockReturn(tx, id)
    const units = readUnits(returned, request)
    const variants = returned.lines.map(({ variant_id }) => variant_id)
    const tracked = await returnStock.trackedOf(tx, variants)
    const resolved = units.map((each) => ({
      ...each,
      stock_quantity:
        each.disposition === 'restock' && tracked.has(each.line.variant_id) ? each.quantity : 0,
    }))
    const movement_ids = await returnStock.restock(
      tx,
      { order_id: returned.order_id, return_id: returned.id, units: placesOf(resolved, request) },
      { actor: actor.name, named: request.location_id },
    )
    const row = { ...returned, lines: returned.lines.map((line) => after(line, units)) }
    await queries.writeLines(tx, row.lines)
    await queries.insertResolutions(
      tx,
      actor.name,
      resolved.map(({ line, disposition, quantity, stock_quantity }) => ({
        return_line_id: line.id,
        disposition,
        quantity,
        stock_quantity,
      })),
    )
    const settled = await closeIfSettled(tx, row)
    await record(tx, actor, settled, {
      verb: 'resolved',
      resolved_units: sum(units.map(({ quantity }) => quantity)),
    })
    return { return: shown(settled), movements: await inventory.movementsOf(tx, movement_ids) }
  })
}

interface Resolved {
  line: ReturnLineRow
  disposition: 'restock' | 'damaged'
  quantity: number
}

function readUnits({ lines }: ReturnRow, { lines: requested }: Resolution): Resolved[] {
  const units = requested.map(({ return_line_id, quantity, disposition }) => {
    const line = lines.find(({ id }) => id === return_line_id.toLowerCase())
    if (line === undefined) throw refuse('return_line_not_found')
    return { line, disposition, quantity }
  })
  const tooMany = lines.flatMap((line) => {
    const requested = unitsOf(units, line)
    const { id, quarantined_quantity: expected } = line
    return requested > expected ? [{ return_line_id: id, requested, expected }] : []
  })
  if (tooMany.length > 0) throw exceedsExpected(tooMany)
  return units
}

const unitsOf = (
  units: readonly Resolved[],
  { id }: ReturnLineRow,
  disposition?: Resolved['disposition'],
): number =>
  sum(
    units
      .filter((each) => each.line.id === id)
      .filter((each) => disposition === undefined || each.disposition === disposition)
      .map(({ quantity }) => quantity),
  )

const after = (line: ReturnLineRow, units: readonly Resolved[]): ReturnLineRow => ({
  ...line,
  quarantined_quantity: line.quarantined_quantity - unitsOf(units, line),
  restocked_quantity: line.restocked_quantity + unitsOf(units, line, 'restock'),
  damaged_quantity: line.damaged_quantity + unitsOf(units, line, 'damaged'),
})

/** Returns the units that are put on hand, with their locations: the named one, or the one where they are set aside. */
const placesOf = (
  resolved: readonly (Resolved & { stock_quantity: number })[],
  { location_id }: Resolution,
): PlacedUnits[] =>
  resolved.map(({ line, stock_quantity }) => ({
    variant_id: line.variant_id,
    location_id: location_id ?? line.quarantine_location_id ?? DEFAULT_LOCATION,
    quantity: stock_quantity,
  }))

/**
 * Closes a return of which everything has come, once its money is settled and no unit is set aside. It is called
 * under the lock of its order.
 */
export async function closeIfSettled(tx: Tx, row: ReturnRow): Promise<ReturnRow> {
  const isOpen = row.lines.some((line) => unsettledOf(line) > 0 || line.quarantined_quantity > 0)
  const at = isoNow(tx.clock)
  const isSettled =
    row.status === 'received' && !isOpen && (await readSettlement(tx, row.id)).pending === 0
  const next = { ...(isSettled ? closed(row, at) : row), updated_at: at }
  await queries.writeReturn(tx, next)
  return next
}
