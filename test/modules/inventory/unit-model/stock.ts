import assert from 'node:assert/strict'
import type { Answer } from '../../../harness/app.ts'
import { codeOf, freeOf, keyed, levelAt, PLACES, type UnitModel, upTo } from './model.ts'
import { ship } from './orders.ts'

/** Steps of the stock itself: corrections, transfers and cycle counts. */

export async function adjust(model: UnitModel): Promise<void> {
  const [variant, place] = [upTo(model, 2), upTo(model, 2)]
  const level = levelAt(model, variant, place)
  const isSet = upTo(model, 1) === 0
  const delta = isSet ? upTo(model, 12) - level.on_hand : upTo(model, 12) - 4
  const change = isSet ? { set_on_hand: level.on_hand + delta } : { delta }
  const key = keyed()
  const answer = await model.settle(() =>
    model.shop.merchant.post(
      `/v1/merchant/inventory/${model.variants[variant]}/adjust`,
      { ...change, location_id: PLACES[place], reason: 'any' },
      key,
    ),
  )
  const isBelow = delta < 0 && level.on_hand + delta < 0
  assert.equal(codeOf(answer), isBelow ? 'stock_below_zero' : 'done', answer.text)
  if (!isBelow) level.on_hand += delta
}

export async function transfer(model: UnitModel): Promise<void> {
  const [variant, from] = [upTo(model, 2), upTo(model, 2)]
  const to = (from + 1 + upTo(model, 1)) % PLACES.length
  const quantity = 1 + upTo(model, 4)
  const key = keyed()
  const body = {
    variant_id: model.variants[variant],
    from_location_id: PLACES[from],
    to_location_id: PLACES[to],
    quantity,
    reason: 'any',
  }
  const answer = await model.settle(() =>
    model.shop.merchant.post('/v1/merchant/inventory/transfers', body, key),
  )
  const isFree = freeOf(levelAt(model, variant, from)) >= quantity
  assert.equal(codeOf(answer), isFree ? 'done' : 'insufficient_stock', answer.text)
  if (!isFree) return
  levelAt(model, variant, from).on_hand -= quantity
  levelAt(model, variant, to).on_hand += quantity
}

async function findCount({ shop }: UnitModel, url: string): Promise<Answer | null> {
  const listed = await shop.merchant.get(url)
  if (listed.status !== 200) throw new Error(listed.text)
  const [count] = listed.body.counts
  return count === undefined ? null : { ...listed, body: { count } }
}

/** Counts two variants at a place, and ships a parcel before and after the numbers are entered. */
export async function count(model: UnitModel): Promise<void> {
  const place = upTo(model, 2)
  const variants = upTo(model, 1) === 0 ? [0, 1] : [1, 2]
  const url = '/v1/merchant/inventory/counts'
  const { merchant } = model.shop
  const begun = await model.settle(
    () =>
      merchant.post(url, {
        location_id: PLACES[place],
        variant_ids: variants.map((variant) => model.variants[variant]),
      }),
    // The model begins one count after another, so that an open one is its own.
    () => findCount(model, `${url}?status=open`),
  )
  assert.ok(begun.status < 300, begun.text)
  const frozen = variants.map((variant) => levelAt(model, variant, place).on_hand)
  if (upTo(model, 2) === 0) await ship(model)
  const asOfNow = upTo(model, 1) === 0
  const basis = asOfNow ? variants.map((variant) => levelAt(model, variant, place).on_hand) : frozen
  const found = basis.map((units) => Math.max(0, units + upTo(model, 4) - 2))
  const lines = variants.map((variant, at) => ({
    variant_id: model.variants[variant],
    counted: found[at],
    as_of: asOfNow ? 'now' : 'beginning',
  }))
  const entered = await model.settle(() =>
    merchant.put(`${url}/${begun.body.count.id}/lines`, { lines }),
  )
  assert.equal(entered.status, 200, entered.text)
  if (upTo(model, 2) === 0) await ship(model)
  const differences = found.map((units, at) => units - (basis[at] ?? 0))
  const isBelow = variants.some((variant, at) => {
    const by = differences[at] ?? 0
    return by < 0 && levelAt(model, variant, place).on_hand + by < 0
  })
  const key = keyed()
  const posted = await model.settle(() =>
    merchant.post(`${url}/${begun.body.count.id}/post`, undefined, key),
  )
  assert.equal(codeOf(posted), isBelow ? 'stock_below_zero' : 'done', posted.text)
  if (isBelow) {
    const own = `${url}/${begun.body.count.id}`
    const cancelled = await model.settle(
      () => merchant.post(`${own}/cancel`),
      async () => {
        const read = await merchant.get(own)
        return read.body.count?.status === 'cancelled' ? read : null
      },
    )
    return assert.equal(cancelled.status, 200, cancelled.text)
  }
  for (const [at, variant] of variants.entries()) {
    levelAt(model, variant, place).on_hand += differences[at] ?? 0
  }
}
