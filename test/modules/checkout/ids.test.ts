import assert from 'node:assert/strict'
import { test } from 'node:test'
import type pg from 'pg'
import { cart, checkout, openCheckoutApp, openShop, stock } from './setup.ts'

/** Uuids that are no ids of rows: secrets, and what callers give. */
const OTHERS = ['lease_token', 'correlation_id', 'person_id']

/** Every uuid in the columns of all tables, by column. */
async function listIds(superuser: pg.Client): Promise<Map<string, string[]>> {
  const { rows: columns } = await superuser.query<{ target: string; name: string }>(
    `select a.attrelid::regclass::text as target, a.attname as name
       from pg_attribute a
       join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        and a.atttypid = 'uuid'::regtype and not a.attisdropped and not a.attname = any ($1)`,
    [OTHERS],
  )
  const ids = new Map<string, string[]>()
  for (const { target, name } of columns) {
    const { rows } = await superuser.query<{ id: string }>(
      `select distinct "${name}" as id from ${target} where "${name}" is not null`,
    )
    if (rows.length > 0)
      ids.set(
        `${target}.${name}`,
        rows.map(({ id }) => id),
      )
  }
  return ids
}

test('the rows of a checkout', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const variant = shop.variants[1_000]
  await stock(shop.merchant, variant ?? '', 100)
  const place = async () => {
    const { status, body, text } = await checkout(app, shop, cart(variant))
    assert.equal(status, 201, text)
    return body.order.id as string
  }

  await t.test('have ids of version 7 only, in the order of the checkouts', async () => {
    const orders = [await place(), await place(), await place()]
    assert.deepEqual(orders, orders.toSorted())
    const ids = await listIds(app.superuser)
    for (const needed of [
      'orders.id',
      'charges.charge_id',
      'ledger_journals.id',
      'sim_charges.ref',
    ])
      assert.ok(ids.has(needed), needed)
    const random = [...ids].filter(([, all]) => all.some((id) => id[14] !== '7'))
    assert.deepEqual(random, [])
  })

  await t.test('let the payment change a charge without touching an index', async () => {
    const order = await place()
    // A new page, so that there is room for the next version.
    await app.superuser.query('vacuum charges')
    await app.superuser.query('begin')
    try {
      const changed = await app.superuser.query(
        `update charges set status = 'pending', captured_cents = 0, authorized_until = null
          where order_id = $1`,
        [order],
      )
      const { rows } = await app.superuser.query(
        `select pg_stat_get_xact_tuples_hot_updated('charges'::regclass)::int as hot`,
      )
      assert.deepEqual([changed.rowCount, rows[0].hot], [1, 1])
    } finally {
      await app.superuser.query('rollback')
    }
  })
})
