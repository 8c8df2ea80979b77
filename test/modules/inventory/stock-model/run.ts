import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { addVariant, type CheckoutApp, type Shop } from '../../checkout/setup.ts'
import { BOTH, hasEnded, type Model, PRICE } from './model.ts'
import { change, passHours, place, resolveOutcomes } from './orders.ts'
import type { Step } from './sequences.ts'
import { adjust, archive, closeOther, count, rush } from './stock.ts'

/** The first variant is tracked at two locations; the second is not tracked. */
export async function openModel(app: CheckoutApp, shop: Shop): Promise<Model> {
  app.clock.reset()
  const { merchant } = shop
  const other = `l-${randomUUID()}`
  assert.equal(
    (await merchant.post('/v1/merchant/inventory/locations', { id: other, name: 'Other' })).status,
    201,
  )
  const model: Model = { app, shop, variants: [], orders: [], other, isOtherOpen: true }
  for (const at of BOTH) {
    const id = await addVariant(merchant, PRICE)
    const { product_id } = (await merchant.get(`/v1/merchant/inventory/${id}`)).body.item
    const state = { isTracked: false, mayBackorder: false, isArchived: false }
    model.variants.push({ id, product_id, ...state, on_hand: [0, 0] })
    await adjust(model, { variant: at, isOther: false, by: 'delta', units: 4 })
  }
  await adjust(model, { variant: 0, isOther: true, by: 'delta', units: 3 })
  await count(model, { variant: 0, track: true, backorder: false })
  return model
}

export async function runStep(model: Model, step: Step): Promise<void> {
  switch (step.do) {
    case 'place':
      return place(model, step)
    case 'count':
      return count(model, step)
    case 'adjust':
      return adjust(model, step)
    case 'archive':
      return archive(model, step.variant)
    case 'rush':
      return rush(model, step)
    case 'hours pass':
      return passHours(model)
    case 'outcomes are known':
      return resolveOutcomes(model)
    case 'close the other location':
      return closeOther(model)
    default: {
      const newest = model.orders.toReversed()
      const chosen = newest.filter((order) => !hasEnded(order))[step.order] ?? newest[step.order]
      return chosen && change(model, chosen, step)
    }
  }
}
