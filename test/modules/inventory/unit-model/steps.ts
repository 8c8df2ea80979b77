import assert from 'node:assert/strict'
import { living, PLACES, sum, type UnitModel } from './model.ts'
import { buy, cancelOrder, pack, recall, ship, unpack } from './orders.ts'
import { endPurchase, purchase, receiveSome } from './purchases.ts'
import { adjust, count, transfer } from './stock.ts'

type Step = (model: UnitModel) => Promise<void>

/** How often each step is taken, in relation to the others. */
const STEPS: readonly (readonly [weight: number, step: Step])[] = [
  [14, buy],
  [12, pack],
  [12, ship],
  [4, unpack],
  [4, recall],
  [4, cancelOrder],
  [8, adjust],
  [9, transfer],
  [6, count],
  [5, purchase],
  [10, receiveSome],
  [1, endPurchase],
]

export async function takeStep(model: UnitModel): Promise<string> {
  let left = model.random() * sum(STEPS.map(([weight]) => weight))
  const found = STEPS.find(([weight]) => {
    left -= weight
    return left < 0
  })
  const [, step] = found as (typeof STEPS)[number]
  await step(model)
  return step.name
}

/** Asserts that the levels and reservations in the database are those of the model. */
export async function assertUnitsMatch(model: UnitModel): Promise<void> {
  const { app, variants } = model
  const [levels, held] = await Promise.all([
    app.superuser.query(
      `select variant_id, location_id, on_hand::int, allocated::int, packed::int, incoming::int,
              reserved::int
         from inventory_levels where variant_id = any ($1)`,
      [variants],
    ),
    app.superuser.query(
      `select order_id, variant_id, location_id, allocated::int, packed::int
         from inventory_reservations where variant_id = any ($1) and (allocated > 0 or packed > 0)`,
      [variants],
    ),
  ])
  for (const [variant, places] of model.levels.entries()) {
    for (const [place, expected] of places.entries()) {
      const row = levels.rows.find(
        (each) => each.variant_id === variants[variant] && each.location_id === PLACES[place],
      )
      const { variant_id: _, location_id: __, ...found } = row ?? { ...expected, reserved: 0 }
      assert.deepEqual(
        found,
        { ...expected, reserved: 0 },
        `variant ${variant} at ${PLACES[place]}`,
      )
    }
  }
  const expected = living(model).flatMap(({ id, held: own }) =>
    [...own]
      .filter(([, { allocated }]) => allocated > 0)
      .map(([key, { allocated, packed }]) => `${id} ${key} ${allocated} ${packed}`),
  )
  const found = held.rows.map(
    (row) =>
      `${row.order_id} ${variants.indexOf(row.variant_id)} ${PLACES.indexOf(row.location_id)} ${row.allocated} ${row.packed}`,
  )
  assert.deepEqual(found.toSorted(), expected.toSorted(), 'what orders have')
}
