import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openTestDatabase } from '../harness/database.ts'
import { assertListsAgree } from '../harness/list-oracles.ts'

/**
 * Columns that triggers keep for the lists: they agree with the other rows, also when two writers write at once
 * (decision 0031).
 */
test('a stored flag', async (t) => {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`
    insert into stores (tenant_ref, display_name) values ('acme', 'Acme');
    insert into inventory_locations (tenant_ref, id, name)
    values ('acme', 'north', 'North'), ('acme', 'south', 'South')`)

  const putProduct = async (status = 'active') => {
    const [product, variant] = [randomUUID(), randomUUID()]
    await admin.query(
      `insert into products (tenant_ref, id, slug, name, status) values ('acme', $1, $1::uuid::text, 'A', $2)`,
      [product, status],
    )
    await admin.query(
      `insert into variants (tenant_ref, id, product_id, sku, price_cents, currency)
       values ('acme', $1, $2, $1::uuid::text, 100, 'USD')`,
      [variant, product],
    )
    return { product, variant }
  }

  const putStock = async (threshold: number | null) => {
    const { variant } = await putProduct()
    await admin.query(
      `insert into inventory_levels (tenant_ref, variant_id, location_id, on_hand)
       values ('acme', $1, 'north', 5), ('acme', $1, 'south', 5)`,
      [variant],
    )
    await admin.query(
      `insert into inventory_settings (tenant_ref, variant_id, track_inventory, low_stock_threshold)
       values ('acme', $1, true, $2)`,
      [variant, threshold],
    )
    return variant
  }

  const isLow = async (variant: string) => {
    await assertListsAgree(admin)
    const { rows } = await admin.query('select is_low from variants where id = $1', [variant])
    return rows[0].is_low as boolean
  }

  const take = (units: number, from = 'north') =>
    `update inventory_levels set allocated = allocated + ${units}
      where tenant_ref = 'acme' and location_id = '${from}' and variant_id = $1`

  /** Runs two statements in two transactions that are open at once; the first commits first. */
  const together = async (first: [string, unknown[]], second: [string, unknown[]]) => {
    const [one, other] = [await database.openAdmin(), await database.openAdmin()]
    await one.query('begin')
    await other.query('begin')
    await one.query(...first)
    const waiting = other.query(...second)
    // Long enough for it to reach a lock, if it has to wait for one.
    await Promise.race([waiting, sleep(200)])
    await one.query('commit')
    await waiting
    await other.query('commit')
  }

  await t.test(
    'the stored flag of low stock follows the units, the threshold and the tracking',
    async () => {
      const variant = await putStock(4)
      assert.equal(await isLow(variant), false)
      await admin.query(take(6), [variant])
      assert.equal(await isLow(variant), true)
      await admin.query(take(-1), [variant])
      assert.equal(await isLow(variant), false)
      const set = (change: string) =>
        admin.query(`update inventory_settings set ${change} where variant_id = $1`, [variant])
      await set('low_stock_threshold = 5')
      assert.equal(await isLow(variant), true)
      await set('track_inventory = false')
      assert.equal(await isLow(variant), false)
      await set('track_inventory = true, low_stock_threshold = null')
      assert.equal(await isLow(variant), false)
    },
  )

  await t.test(
    'the stored flag of low stock counts two locations that change at once',
    async () => {
      const variant = await putStock(4)
      await together([take(3, 'north'), [variant]], [take(3, 'south'), [variant]])
      assert.equal(await isLow(variant), true)
    },
  )

  await t.test(
    'the stored flag of low stock counts units that are sold while the threshold changes',
    async () => {
      const raise = `update inventory_settings set low_stock_threshold = 8 where variant_id = $1`
      const sold = await putStock(4)
      await together([take(2), [sold]], [raise, [sold]])
      assert.equal(await isLow(sold), true)
      const raised = await putStock(4)
      await together([raise, [raised]], [take(2), [raised]])
      assert.equal(await isLow(raised), true)
    },
  )

  await t.test('the stored flag of low stock is written by the roles that move stock', async () => {
    for (const role of ['fd_app', 'fd_worker']) {
      const variant = await putStock(4)
      await admin.query('begin')
      await admin.query(`set local role ${role}`)
      await admin.query(`select set_config('app.tenant', 'acme', true)`)
      await admin.query(take(6), [variant])
      await admin.query('commit')
      assert.equal(await isLow(variant), true, role)
    }
  })

  await t.test(
    'the stored flag of low stock costs nothing at a reservation, nor without a threshold',
    async () => {
      const variants = [await putStock(4), await putStock(null)]
      const written = async () =>
        (
          await admin.query(
            `select v.xmin::text as variant, s.xmin::text as settings, s.xmax::text as locked
             from variants v join inventory_settings s on s.variant_id = v.id
            where v.id = any ($1) order by v.id`,
            [variants],
          )
        ).rows
      const before = await written()
      await admin.query(`update inventory_levels set reserved = 9 where variant_id = any ($1)`, [
        variants,
      ])
      await admin.query(take(4), [variants[1]])
      assert.deepEqual(await written(), before)
    },
  )

  const putAsset = async (owners: readonly string[]) => {
    const hash = (randomUUID() + randomUUID()).replaceAll('-', '')
    await admin.query(
      `insert into assets (tenant_ref, sha256, extension, content_type, bytes, stored_at)
       values ('acme', $1, 'png', 'image/png', 1, now())`,
      [hash],
    )
    await admin.query(
      `insert into asset_refs (tenant_ref, sha256, owner_kind, owner_id)
       select 'acme', $1, 'product', unnest($2::text[])`,
      [hash, owners],
    )
    return hash
  }

  const isUsed = async (hash: string) => {
    await assertListsAgree(admin)
    const { rows } = await admin.query('select is_used from assets where sha256 = $1', [hash])
    return rows[0].is_used as boolean
  }

  const drop = `delete from asset_refs where sha256 = $1 and owner_id = $2`

  await t.test('the stored flag of a used asset follows its uses', async () => {
    assert.equal(await isUsed(await putAsset([])), false)
    const hash = await putAsset(['one', 'two'])
    assert.equal(await isUsed(hash), true)
    await admin.query(drop, [hash, 'one'])
    assert.equal(await isUsed(hash), true)
    await admin.query(drop, [hash, 'two'])
    assert.equal(await isUsed(hash), false)
  })

  await t.test(
    'the stored flag of a used asset is cleared when its last two uses end at once',
    async () => {
      const hash = await putAsset(['one', 'two'])
      await together([drop, [hash, 'one']], [drop, [hash, 'two']])
      assert.equal(await isUsed(hash), false)
    },
  )

  const onSale = async (product: string) => {
    await assertListsAgree(admin)
    const { rows } = await admin.query(
      'select on_sale from collection_products where product_id = $1',
      [product],
    )
    return rows[0].on_sale as boolean
  }

  const putCollection = async () => {
    const id = randomUUID()
    await admin.query(
      `insert into collections (tenant_ref, id, slug, title) values ('acme', $1, $1::uuid::text, 'C')`,
      [id],
    )
    return id
  }

  const add = `insert into collection_products (tenant_ref, collection_id, product_id, position)
               values ('acme', $1, $2, 0)`
  const setStatus = `update products set status = $1 where id = $2`

  await t.test(
    'the stored flag of a product on sale in a collection follows its status',
    async () => {
      const { product } = await putProduct('draft')
      await admin.query(add, [await putCollection(), product])
      assert.equal(await onSale(product), false)
      await admin.query(setStatus, ['active', product])
      assert.equal(await onSale(product), true)
      await admin.query(setStatus, ['archived', product])
      assert.equal(await onSale(product), false)
    },
  )

  await t.test(
    'the stored flag of a product on sale is right if its status changes while it is added',
    async () => {
      const collection = await putCollection()
      const added = await putProduct()
      await together([add, [collection, added.product]], [setStatus, ['draft', added.product]])
      assert.equal(await onSale(added.product), false)
      const changed = await putProduct()
      await together([setStatus, ['draft', changed.product]], [add, [collection, changed.product]])
      assert.equal(await onSale(changed.product), false)
    },
  )
})
