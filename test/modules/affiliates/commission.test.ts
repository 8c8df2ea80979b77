import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  type Buyer,
  changeOf,
  commissionOf,
  selfReferral,
} from '../../../src/modules/affiliates/commission.ts'
import type { AttributionRow } from '../../../src/modules/affiliates/commission-schema.ts'

/** The largest total of an order. */
const MAX = 100_000_000_000

const terms = fc.oneof(
  fc.integer({ min: 1, max: 10_000 }).map((rate_bps) => ({
    commission_type: 'percent' as const,
    rate_bps,
    amount_cents: null,
  })),
  fc.integer({ min: 1, max: MAX }).map((amount_cents) => ({
    commission_type: 'fixed' as const,
    rate_bps: null,
    amount_cents,
  })),
)
const base = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: MAX }))

const rowOf = (
  of: Pick<AttributionRow, 'commission_type' | 'rate_bps' | 'amount_cents'>,
  base_cents: number,
): AttributionRow => ({
  ...of,
  order_id: '',
  affiliate_id: '',
  refusal: null,
  currency: 'USD',
  approval_delay_days: 30,
  base_cents,
  left_cents: base_cents,
  booked_cents: commissionOf(of, { base_cents, left_cents: base_cents }),
  declined: false,
})

describe('a commission', () => {
  test('rounds half a cent up, and a fixed amount never exceeds the goods', () => {
    const percent = (rate_bps: number, left_cents: number) =>
      commissionOf(
        { commission_type: 'percent', rate_bps, amount_cents: null },
        { base_cents: 10_000, left_cents },
      )
    assert.deepEqual(
      [percent(1_000, 10_000), percent(1_000, 5), percent(1_000, 4), percent(10_000, 7)],
      [1_000, 1, 0, 7],
    )
    const fixed = (amount_cents: number, base_cents: number, left_cents: number) =>
      commissionOf(
        { commission_type: 'fixed', rate_bps: null, amount_cents },
        { base_cents, left_cents },
      )
    assert.deepEqual(
      [fixed(500, 10_000, 10_000), fixed(500, 10_000, 5_000), fixed(500, 300, 300)],
      [500, 250, 300],
    )
    assert.equal(fixed(500, 10_000, 20_000), 500, 'an edit that adds goods adds no second amount')
    assert.equal(fixed(1, 0, 0), 0)
  })

  test('never exceeds the goods, grows with them, and is zero if no goods are left', () => {
    fc.assert(
      fc.property(terms, base, base, base, (of, base_cents, a, b) => {
        const [less, more] = [Math.min(a, b), Math.max(a, b)]
        const at = (left_cents: number) => commissionOf(of, { base_cents, left_cents })
        assert.equal(at(0), 0)
        assert.ok(at(less) <= at(more))
        assert.ok(at(more) <= more, `${at(more)} of ${more}`)
        assert.ok(Number.isSafeInteger(at(more)) && at(more) >= 0)
      }),
    )
  })

  test('is clawed back in parts that never exceed it, and add up to it at a full refund', () => {
    const cuts = fc.array(fc.nat(MAX), { maxLength: 12 })
    fc.assert(
      fc.property(terms, base, cuts, (of, base_cents, parts) => {
        let row = rowOf(of, base_cents)
        const earned = row.booked_cents
        let clawed = 0
        // Partial refunds, and one of whatever is left.
        for (const part of [...parts, MAX]) {
          const left = row.left_cents - Math.min(part, row.left_cents)
          const change = changeOf(row, left)
          assert.ok(change.amount_cents <= 0, 'a refund earns nothing')
          clawed -= change.amount_cents
          assert.ok(clawed <= earned)
          row = { ...row, left_cents: change.left_cents, booked_cents: change.booked_cents }
        }
        assert.deepEqual([row.left_cents, row.booked_cents, clawed], [0, 0, earned])
      }),
    )
  })

  test('depends on the goods that are left and not on the order of the changes, unless it was declined', () => {
    fc.assert(
      fc.property(
        terms,
        base,
        fc.array(base, { maxLength: 8 }),
        base,
        (of, base_cents, way, end) => {
          const walk = (from: AttributionRow) => {
            const row = { ...from }
            for (const left of [...way, end]) {
              const { left_cents, booked_cents } = changeOf(row, left)
              Object.assign(row, { left_cents, booked_cents })
            }
            return row
          }
          const after = walk(rowOf(of, base_cents))
          assert.equal(after.booked_cents, commissionOf(of, { base_cents, left_cents: end }))
          const declined = walk({ ...rowOf(of, base_cents), declined: true })
          assert.ok(declined.booked_cents <= after.booked_cents)
          assert.ok(declined.booked_cents >= 0)
        },
      ),
    )
  })

  test('counts a refund of more goods than were sold as no goods left', () => {
    const row = rowOf({ commission_type: 'percent', rate_bps: 1_000, amount_cents: null }, 1_000)
    const { left_cents, booked_cents } = changeOf(row, -50)
    assert.deepEqual([left_cents, booked_cents], [0, 0])
  })
})

describe('an order counts as the affiliate’s own', () => {
  const affiliate = {
    email_folded: 'fay@example.com',
    customer_ref: 'fay',
    person_id: '11111111-1111-4111-8111-111111111111',
    is_device: false,
  }
  const stranger: Buyer = {
    customer_ref: 'bob',
    person_id: null,
    email_folded: 'bob@example.com',
    cards: ['card of bob'],
    address: '1mainst',
  }
  const own = { cards: new Set(['card of fay']), addresses: new Set(['2highst']) }
  const reason = (buyer: Partial<Buyer>, of = affiliate) =>
    selfReferral(of, { ...stranger, ...buyer }, own)

  const cases: readonly [string, Partial<Buyer>, string | null][] = [
    ['never for a stranger', {}, null],
    ['by the customer', { customer_ref: 'fay' }, 'self_person'],
    ['by the person', { person_id: affiliate.person_id }, 'self_person'],
    ['by the address of mails', { email_folded: 'fay@example.com' }, 'self_person'],
    ['by the same mailbox', { email_folded: 'fay+shop@example.com' }, 'self_person'],
    ['by a card that paid before', { cards: ['x', 'card of fay'] }, 'self_card'],
    ['by where it goes', { address: '2highst' }, 'self_address'],
    ['not without an address', { address: null, email_folded: null, cards: [] }, null],
  ]
  for (const [what, buyer, expected] of cases) {
    test(what, () => assert.equal(reason(buyer), expected))
  }

  test('an order counts as the affiliate’s own by the browser', () => {
    assert.equal(reason({}, { ...affiliate, is_device: true }), 'self_device')
  })

  test('parts of an identity that both lack do not count as shared', () => {
    const unknown = { ...affiliate, customer_ref: null, person_id: null, email_folded: null }
    const guest = { ...stranger, person_id: null, email_folded: null }
    assert.equal(selfReferral(unknown as never, guest, own), null)
  })
})
