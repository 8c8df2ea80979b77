import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type pg from 'pg'
import { LIVES } from '../../../src/compose/lives.ts'
import type { BlobStore } from '../../../src/platform/blobs.ts'
import { createWordPruning, pruneOldRows } from '../../../src/platform/prune.ts'
import { lineOf, open, PERIODS, readAll } from './setup.ts'

const STORES = ['acme', 'globex']

const addOrders = (admin: pg.Client) =>
  admin.query(`
    insert into orders (tenant_ref, id, order_number, customer_ref, status, payment_status,
                        fulfillment_status, subtotal_cents, discount_cents, shipping_cents,
                        tax_cents, total_cents, currency, idempotency_key, pricing, hold_at,
                        hold_reason)
    select s, md5(s || n)::uuid, n, 'x', 'placed', 'paid', 'unfulfilled', 100, 0, 0, 0, 100, 'USD',
           n::text, '{}', case when n = 2 then now() end, case when n = 2 then 'review' end
      from unnest('{${STORES.join()}}'::text[]) s, generate_series(1, 2) n`)

const addDecisions = (admin: pg.Client, many: number) =>
  admin.query(`
    insert into fraud_decisions (tenant_ref, order_id, decision, score, signals, created_at)
    select s, md5(s || 1)::uuid, 'accepted', 0, '[]', now() - make_interval(days => age, secs => n)
      from unnest('{${STORES.join()}}'::text[]) s, unnest('{100,10}'::int[]) age,
           generate_series(1, ${many}) n`)

describe('old rows', () => {
  test('old rows of fraud decisions are deleted in every store; young ones and those of orders on hold stay', async (t) => {
    const { admin, count, prune } = await open(t)
    await addOrders(admin)
    await addDecisions(admin, 1_200)
    await admin.query(`
      insert into fraud_decisions (tenant_ref, order_id, decision, score, signals, created_at)
      values ('acme', md5('acme2')::uuid, 'review', 9, '[]', now() - interval '400 days')`)
    assert.equal(await prune(), 2_400)
    assert.equal(
      await count(`fraud_decisions where created_at > now() - interval '20 days'`),
      2_400,
    )
    assert.equal(await count(`fraud_decisions where decision = 'review'`), 1)
    assert.equal(await count('fraud_decisions'), 2_401)
  })

  test('old rows of one store are deleted though those of another cannot be', async (t) => {
    const { admin, worker, count } = await open(t)
    await addOrders(admin)
    await addDecisions(admin, 3)
    await admin.query(`
      create function stuck() returns trigger language plpgsql as $$
        begin if old.tenant_ref = 'acme' then raise 'stuck'; end if; return old; end $$;
      create trigger stuck before delete on fraud_decisions for each row execute function stuck();
      insert into mails (recipient, subject, body, created_at)
      values ('a@x.example', 'x', 'x', now() - interval '40 days')`)
    await assert.rejects(
      pruneOldRows({ database: worker, lives: LIVES, periods: PERIODS, archive: null }),
      /stuck/,
    )
    assert.equal(await count(`fraud_decisions where tenant_ref = 'acme'`), 6)
    assert.equal(await count(`fraud_decisions where tenant_ref = 'globex'`), 3)
  })

  test('old rows that are append-only cannot be deleted before their time by any role', async (t) => {
    const { admin, worker } = await open(t)
    await addOrders(admin)
    await addDecisions(admin, 1)
    await assert.rejects(
      admin.query(`delete from fraud_decisions where created_at > now() - interval '20 days'`),
      { code: 'FD002' },
    )
    const early = { ...PERIODS, RETENTION_FRAUD_DAYS: 1 }
    await assert.rejects(
      pruneOldRows({ database: worker, lives: LIVES, periods: early, archive: null }),
      /too young to be deleted/,
    )
  })

  test('old rows of reservations, payment days, gateway events and mails are deleted by their own rules', async (t) => {
    const { admin, count, prune } = await open(t)
    await admin.query(`
      with product as (insert into products (tenant_ref, slug, name)
                       values ('acme', 'cup', 'Cup') returning id),
           variant as (insert into variants (tenant_ref, product_id, sku, price_cents, currency)
                       select 'acme', id, 'cup', 100, 'USD' from product returning id),
           place as (insert into inventory_locations (tenant_ref, id, name)
                     values ('acme', 'shelf', 'Shelf')),
           level as (insert into inventory_levels (tenant_ref, variant_id, location_id)
                     select 'acme', id, 'shelf' from variant returning variant_id)
      insert into inventory_reservations (tenant_ref, order_id, variant_id, location_id, reserved,
                                          created_at, released_at)
      select 'acme', gen_random_uuid(), variant_id, 'shelf', case when age is null then 1 else 0 end,
             now() - interval '400 days', now() - make_interval(days => age)
        from level, unnest('{40,5,null}'::int[]) age;
      insert into payment_days (tenant_ref, day, due_at)
      select 'acme', now()::date - age, case when age = 200 then now() end
        from unnest('{100,200,5}'::int[]) age;
      insert into gateway_events (tenant_ref, provider, account_ref, event_id, scheme, status,
                                  headers, received_at)
      select 'acme', 'nmi', '1', status || age, 'nmi', status, '{}', now() - make_interval(days => age)
        from unnest('{100,5}'::int[]) age, unnest('{applied,unhandled,received}'::text[]) status;
      insert into mails (recipient, subject, body, created_at, next_attempt_at)
      select 'a@x.example', 'x', 'x', now() - make_interval(days => age), now()
        from unnest('{40,5}'::int[]) age`)
    await prune()
    assert.equal(await count('inventory_reservations'), 2)
    assert.equal(await count('inventory_reservations where reserved = 1'), 1)
    assert.equal(await count('payment_days'), 2)
    assert.equal(await count('payment_days where due_at is not null'), 1)
    assert.equal(await count('gateway_events'), 5)
    assert.equal(await count('mails'), 1)
  })

  test('old rows of past prices are deleted after their time, and young ones stay', async (t) => {
    const { admin, count, prune } = await open(t)
    await admin.query(`
      with product as (insert into products (tenant_ref, slug, name)
                       values ('acme', 'cup', 'Cup') returning id),
           variant as (insert into variants (tenant_ref, product_id, sku, price_cents, currency)
                       select 'acme', id, 'cup', 100, 'USD' from product returning id)
      insert into past_prices (tenant_ref, variant_id, price_cents, currency, until_at)
      select 'acme', id, age, 'USD', now() - make_interval(days => age)
        from variant, unnest('{100,80,5}'::int[]) age`)
    await prune()
    assert.equal(await count('past_prices'), 2)
    assert.equal(await count('past_prices where price_cents = 100'), 0)
  })

  test('old rows of sites stay for good by default; if the operator sets a time, they go with their asset uses, but the active, the previous and the newest version stay', async (t) => {
    const { admin, count, prune } = await open(t)
    await admin.query(`
      insert into site_versions (tenant_ref, version, manifest, row_hash, rules_version, created_by,
                                 created_at)
      select s, n, '{}', repeat('0', 64), 'none', 'test',
             now() - case s when 'acme' then interval '60 days' else interval '2 days' end
        from unnest('{${STORES.join()}}'::text[]) s, generate_series(1, 30) n;
      insert into asset_refs (tenant_ref, sha256, owner_kind, owner_id)
      select 'acme', repeat('a', 64), 'site', n::text from generate_series(1, 30) n;
      update stores set active_version = 3, previous_version = 7 where tenant_ref = 'acme'`)
    const kept = { ...PERIODS, SITE_VERSIONS_KEPT: undefined }
    assert.equal(await prune(null, kept), 0)
    assert.equal(await count('site_versions'), 60)
    assert.equal(await prune(), 18)
    assert.equal(await count(`site_versions where tenant_ref = 'acme' and version > 20`), 10)
    assert.equal(await count(`site_versions where tenant_ref = 'acme' and version in (3, 7)`), 2)
    assert.equal(await count(`site_versions where tenant_ref = 'globex'`), 30)
    assert.equal(await count('asset_refs'), 12)
  })

  test('include words that no product has any more', async (t) => {
    const { admin, worker, count } = await open(t)
    await admin.query(`
      insert into products (tenant_ref, slug, name) values ('acme', 'pot', 'Harbour Teapot');
      insert into search_words (tenant_ref, word)
      select s, w from unnest('{${STORES.join()}}'::text[]) s, unnest('{expresso,kettle}'::text[]) w
          on conflict do nothing`)
    await admin.query(`
      update product_search set words = words || (
        select to_tsvector('simple', '') || array_to_tsvector(array[store_number || '/kettle'])
          from stores where tenant_ref = 'acme')`)
    const pruneWords = createWordPruning(worker)
    await pruneWords()
    const { rows } = await admin.query(`
      select tenant_ref, word from search_words where word in ('expresso', 'kettle')`)
    assert.deepEqual(rows, [{ tenant_ref: 'acme', word: 'kettle' }])
    const left = await count('search_words')
    await pruneWords()
    assert.equal(await count('search_words'), left)
  })

  test('old rows of timelines are kept for good by default, and otherwise archived and deleted', async (t) => {
    const { admin, worker, blobs, count, prune } = await open(t)
    await addOrders(admin)
    await admin.query(`
      insert into order_timeline (tenant_ref, order_id, type, actor, at)
      select s, md5(s || 1)::uuid, 'placed', 'system', now() - make_interval(days => age)
        from unnest('{${STORES.join()}}'::text[]) s, unnest('{800,500,390,5}'::int[]) age`)
    const kept = { ...PERIODS, RETENTION_TIMELINE_DAYS: 0 }
    await pruneOldRows({ database: worker, lives: LIVES, periods: kept, archive: blobs })
    assert.equal(await count('order_timeline'), 8)
    const { rows } = await admin.query(`
      select 'order_timeline' as table_name, tenant_ref, to_jsonb(t)::text as line
        from order_timeline t where at < now() - interval '400 days'`)
    assert.equal(await prune(blobs), 4)
    assert.deepEqual((await readAll(admin, blobs)).sort(), rows.map(lineOf).sort())
    assert.equal(await count('order_timeline'), 4)
  })

  test('old rows whose archive fails, or that change meanwhile, stay, and the next step continues', async (t) => {
    const { admin, worker, blobs, count, prune } = await open(t)
    await addOrders(admin)
    await addDecisions(admin, 1_500)
    let puts = 0
    const dying: BlobStore = {
      ...blobs,
      put: async (...args) => {
        await blobs.put(...args)
        if (++puts === 1) throw new Error('killed')
        // A row that becomes old between the archive and the delete.
        await admin.query(`
          insert into fraud_decisions (tenant_ref, order_id, decision, score, signals, created_at)
          values ('globex', md5('globex1')::uuid, 'rejected', 0, '[]', now() - interval '900 days')`)
      },
    }
    const step = pruneOldRows({ database: worker, lives: LIVES, periods: PERIODS, archive: dying })
    await assert.rejects(step, /killed/)
    assert.equal(await count(`fraud_decisions where tenant_ref = 'acme'`), 3_000)
    assert.equal(await count(`fraud_decisions where tenant_ref = 'globex'`), 3_001)
    assert.equal(await count('retention_archives'), 0)
    assert.equal(await prune(blobs), 3_001)
    assert.equal((await readAll(admin, blobs)).length, 3_001)
  })

  test('old rows of events and deliveries with ids of no month are deleted with their attempts; pending ones stay', async (t) => {
    const { admin, blobs, count, prune } = await open(t)
    // An id that is random in all digits lies in a month that has a partition once in fifty thousand times.
    const ofNoMonth = `overlay(gen_random_uuid()::text placing 'f' from 1 for 1)::uuid`
    await admin.query(`
      with event as (
        insert into webhook_events (tenant_ref, id, type, payload, created_at, sequence, emitted_at)
        select s, ${ofNoMonth}, 'a', '{}', at, (100 - age) * 10 + n, at
          from unnest('{${STORES.join()}}'::text[]) s, unnest('{100,5}'::int[]) age,
               generate_series(1, 3) n, lateral (select now() - make_interval(days => age) as at) x
        returning tenant_ref, id, emitted_at, sequence
      ), delivery as (
        insert into webhook_deliveries (tenant_ref, id, subscription_id, event_id, event_type,
                                        endpoint_url, status, next_retry_at, delivered_at, created_at)
        select tenant_ref, ${ofNoMonth}, gen_random_uuid(), id, 'a', 'https://x.example/',
               case when pending then 'pending' else 'delivered' end,
               case when pending then now() end, case when not pending then now() end, emitted_at
          from event, lateral (select tenant_ref = 'acme' and sequence = 1 as pending) x
        returning tenant_ref, id, created_at
      )
      insert into webhook_attempts (tenant_ref, delivery_id, attempt, at)
      select tenant_ref, id, 1, created_at from delivery`)
    await prune(blobs)
    for (const table of ['webhook_events', 'webhook_deliveries', 'webhook_attempts']) {
      assert.equal(await count(`${table} where tenant_ref = 'acme'`), 4, table)
      assert.equal(await count(`${table} where tenant_ref = 'globex'`), 3, table)
    }
    assert.equal(await count(`webhook_deliveries where status = 'pending'`), 1)
    const lines = (await readAll(admin, blobs)).join('\n')
    assert.equal([...lines.matchAll(/"attempts": \[\{/g)].length, 5)
  })
})
