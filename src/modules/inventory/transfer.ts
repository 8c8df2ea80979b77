import type { TenantDb } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import * as audit from '../../platform/audit.ts'
import type { KeepingCaller } from '../../platform/idempotency.ts'
import * as queries from './queries.ts'
import { type Level, type Move, type NewTransfer, QUANTITY_MAX, type Transfer } from './schema.ts'
import { get, requireLocations } from './service.ts'
import { moveStock } from './stock-queries.ts'

/**
 * Moves units from one location to another: two movements in one transaction. Units that orders have
 * reserved or allocated stay where they are, so that each order ships from its own location.
 */
export async function transfer(
  db: TenantDb,
  { actor, keep }: KeepingCaller,
  request: NewTransfer,
): Promise<Transfer> {
  const { from_location_id, to_location_id, quantity, reason } = request
  if (from_location_id === to_location_id) {
    throw invalidBody('to_location_id', 'must be another location')
  }
  const { variant_id } = await get(db, request.variant_id)
  return db.transaction('inventory: transfer', async (tx) => {
    await requireLocations(tx, from_location_id, to_location_id)
    const places = [from_location_id, to_location_id].map((location_id) => ({
      variant_id,
      location_id,
    }))
    await queries.ensureLevels(tx, places)
    const locked = await queries.lockLevels(tx, places)
    const at = (id: string) => locked.find(({ location_id }) => location_id === id) as Level
    const { available } = at(from_location_id)
    if (available < quantity) {
      const items = [{ variant_id, available: Math.max(0, available) }]
      throw new ApiError('insufficient_stock', { body: { items } })
    }
    if (at(to_location_id).on_hand + quantity > QUANTITY_MAX) {
      throw invalidBody('quantity', `must leave at most ${QUANTITY_MAX} on hand`)
    }
    const id = newId()
    const moves = [
      moveOf(variant_id, from_location_id, -quantity),
      moveOf(variant_id, to_location_id, quantity),
    ]
    const levels = await moveStock(tx, moves, { actor: actor.name, reason, transfer_id: id })
    const after = (place: string) =>
      levels.find(({ location_id }) => location_id === place) as Level
    await audit.record(tx, actor, {
      action: 'inventory.transferred',
      entity: `variant:${variant_id}`,
      after: { transfer_id: id, from_location_id, to_location_id, quantity },
    })
    const [from, to] = [after(from_location_id), after(to_location_id)]
    const done = { id, variant_id, quantity, reason, from, to }
    await keep(tx, { transfer: done })
    return done
  })
}

const moveOf = (variant_id: string, location_id: string, on_hand: number): Move => ({
  variant_id,
  location_id,
  kind: 'transferred',
  on_hand,
  allocated: 0,
  reserved: 0,
})
