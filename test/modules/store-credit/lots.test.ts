import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { spendLots, sumOf, unheldExpired } from '../../../src/modules/store-credit/lots.ts'

const lots = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 100 }), fc.boolean()), { maxLength: 6 })
  .map((list) =>
    list
      .toSorted(([, a], [, b]) => Number(b) - Number(a))
      .map(([remaining_cents, expired], n) => ({
        id: `lot-${n}`,
        remaining_cents,
        expired,
        expires_at: expired ? '2001' : null,
      })),
  )

const total = (list: readonly { remaining_cents: number }[]) =>
  list.reduce((sum, { remaining_cents }) => sum + remaining_cents, 0)

test('spends the lot that expires first, and never more than the lot has', () => {
  const lot = (id: string, remaining_cents: number) => ({
    id,
    remaining_cents,
    expired: false,
    expires_at: null,
  })
  const [first, second, third] = [lot('a', 30), lot('b', 50), lot('c', 10)]
  assert.deepEqual(spendLots([first, second, third], 45), [
    { id: 'a', amount_cents: 30 },
    { id: 'b', amount_cents: 15 },
  ])
  assert.deepEqual(spendLots([first], 0), [])
  assert.throws(() => spendLots([first], 31), /1 cents short/)
})

test('a hold keeps the lots that would be spent first, also past their date', () => {
  const expired = { id: 'a', remaining_cents: 100, expired: true, expires_at: '2001' }
  const fresh = { id: 'b', remaining_cents: 100, expired: false, expires_at: null }
  const left = (amount_cents: number, created_at = '2000') =>
    unheldExpired([expired, fresh], [{ amount_cents, created_at }])
  assert.deepEqual(left(0), [{ id: 'a', amount_cents: 100 }])
  assert.deepEqual(left(40), [{ id: 'a', amount_cents: 60 }])
  assert.deepEqual(left(100), [])
  assert.deepEqual(left(150), [])
  assert.deepEqual(left(40, '2001'), [{ id: 'a', amount_cents: 100 }], 'it came too late for it')
  assert.deepEqual(left(150, '2001'), [{ id: 'a', amount_cents: 50 }], 'all that is held is kept')
})

test('expiry leaves held and unexpired amounts, for any lots', () => {
  fc.assert(
    fc.property(lots, fc.nat(600), (list, wanted) => {
      const held = Math.min(wanted, total(list))
      const gone = sumOf(unheldExpired(list, [{ amount_cents: held, created_at: '2000' }]))
      const past = total(list.filter(({ expired }) => expired))
      assert.equal(gone, Math.max(0, past - held))
      assert.ok(total(list) - gone >= held)
    }),
  )
})
