import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import type { AllStores } from '../../../src/db/database.ts'
import { findTenantOf } from '../../../src/modules/webhooks/queries.ts'
import { countPages } from '../../harness/pages.ts'
import { openPlatform } from '../../harness/platform.ts'

test('the store of a delivery or endpoint is found in a few pages, among 2,000 stores', async () => {
  const platform = await openPlatform({ after }, 2)
  const refs = await platform.addStores(2_000)
  const admin = await platform.database.openAdmin()
  // The deliveries need no events here.
  await admin.query('set session_replication_role = replica')
  await admin.query(
    `insert into webhook_subscriptions (tenant_ref, url, events, secret_sealed)
     select ref, 'https://example.com', '{any}', 'x' from unnest($1::text[]) as ref`,
    [refs],
  )
  await admin.query(
    `insert into webhook_deliveries (tenant_ref, id, subscription_id, event_id, event_type,
                                     endpoint_url)
     select tenant_ref, gen_random_uuid(), id, gen_random_uuid(), 'any', url
       from webhook_subscriptions`,
  )
  await admin.query('analyze webhook_subscriptions, webhook_deliveries')
  const { db, counted } = await countPages<AllStores>({ after }, platform.database, 'fd_operator')
  for (const kind of ['delivery', 'subscription'] as const) {
    const table = kind === 'delivery' ? 'webhook_deliveries' : 'webhook_subscriptions'
    const { rows } = await admin.query(`select tenant_ref, id from ${table} offset 999 limit 1`)
    counted.pages = 0
    assert.deepEqual(await findTenantOf(db, kind, rows[0].id), { tenant_ref: rows[0].tenant_ref })
    assert.ok(counted.pages <= 5, `${counted.pages} pages`)
    assert.equal(await findTenantOf(db, kind, randomUUID()), null)
  }
})
