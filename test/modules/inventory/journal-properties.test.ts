import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { postStockJournals } from '../../../src/modules/inventory/journal-jobs.ts'
import { assertOracles } from '../../harness/oracles.ts'
import { assertStockIsCounted } from '../../harness/stock-oracles.ts'
import { type OrderStore, openOrderStore } from '../orders/setup.ts'
import { ok, stockOf, tracked } from '../purchasing/setup.ts'
import { receipt, returnsOf, type Shipped } from '../returns/setup.ts'
import { addCost, adjust, balancesOf, bought, countTo, postAll, recall } from './journal-setup.ts'

const ACTS = ['buy', 'cost', 'sell', 'recall', 'return', 'count', 'adjust', 'move', 'post'] as const

interface Act {
  which: number
  units: number
  cents: number
}

const anAct = fc.record({
  act: fc.constantFrom(...ACTS),
  which: fc.nat(1),
  units: fc.integer({ min: 1, max: 9 }),
  cents: fc.integer({ min: 0, max: 997 }),
})

test('the ledger equals the stock to the cent, after any sequence of stock changes', async (t) => {
  const store = await openOrderStore(t)
  const { merchant } = store.shop
  const location = { id: 'east', name: 'East' }
  ok(await merchant.post('/v1/merchant/inventory/locations', location), 201)
  await fc.assert(
    fc.asyncProperty(fc.array(anAct, { minLength: 12, maxLength: 24 }), async (acts) => {
      const goods = await openGoods(store)
      await goods.buy({ which: 0, units: 9, cents: 331 })
      for (const { act, ...how } of acts) await goods[act](how)
      await postAll(store.app)
      await assertStockIsCounted(store.superuser)
      const { rows } = await store.superuser.query(
        `select (select count(*) from inventory_unposted)::int as waiting,
                (select sum(value_cents) from inventory_costs)::bigint as value,
                (select sum(sold_cents) from inventory_cost_entries)::bigint as sold`,
      )
      const { inventory_asset = 0, cogs = 0 } = await balancesOf(merchant)
      assert.deepEqual(
        [0, inventory_asset, cogs],
        [rows[0].waiting, Number(rows[0].value), Number(rows[0].sold)],
      )
    }),
    { numRuns: 5, unbiased: true },
  )
  await assertOracles(store.superuser)
})

/** Two variants, and what random acts do with them. An act that is not possible is refused or left out. */
async function openGoods(store: OrderStore) {
  const { merchant } = store.shop
  const returns = returnsOf(store)
  const variants = [await tracked(merchant), await tracked(merchant)]
  const of = ({ which }: Act) => variants[which] as string
  const purchases: string[] = []
  const sold: Shipped[] = []
  const goods: Record<(typeof ACTS)[number], (act: Act) => Promise<unknown>> = {
    async buy({ units, cents }) {
      const line = (variant_id: string, at: number) => ({
        variant_id,
        quantity: units + at,
        unit_cost_cents: cents,
      })
      purchases.push((await bought(merchant, variants.map(line))).id)
    },
    cost: async ({ cents }) => ok(await addCost(merchant, purchases.at(-1) ?? '', cents + 1), 201),
    async sell(act) {
      const variant_id = of(act)
      const { available } = await stockOf(merchant, variant_id)
      if (available < act.units) return
      sold.push(await returns.shipped({ items: [{ variant_id, quantity: act.units }] }))
    },
    async recall({ cents }) {
      const [parcel] = sold.pop()?.parcels ?? []
      const reason = cents % 3 === 0 ? 'lost' : 'returned_to_sender'
      if (parcel !== undefined) ok(await recall(merchant, parcel, reason))
    },
    async return({ cents }) {
      const sent = sold.pop()
      if (sent === undefined) return
      const back = await returns.returned(sent, 1)
      const disposition = cents % 3 === 0 ? 'damaged' : 'restock'
      ok(await returns.receive(back.id, receipt(back, 1, { disposition })))
    },
    count: (act) => countTo(merchant, of(act), act.units),
    adjust: (act) => adjust(merchant, of(act), act.units - 5),
    move: (act) =>
      merchant.post('/v1/merchant/inventory/transfers', {
        variant_id: of(act),
        from_location_id: 'default',
        to_location_id: 'east',
        quantity: 1,
        reason: 'nearer',
      }),
    post: () => postStockJournals(store.app.runtime.workerDatabase),
  }
  return goods
}
