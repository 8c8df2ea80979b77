import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startLoop } from '../../src/platform/loop.ts'
import type { MailTransport } from '../../src/platform/mail.ts'
import { until } from '../harness/eventually.ts'
import { buy, newShop, openMailApp } from '../modules/shopper-mail/setup.ts'

const QUEUED = 100_000

/** How long a mail takes: as long as on a quick mail server. */
const DELIVER_MS = 20

for (const [what, perMinute] of [
  ['without a limit', 10_000_000],
  ['beyond its mails of a minute', 50],
] as const) {
  test(`100,000 mails of one store, ${what}, delay the first of another by less than 5 s`, async (t) => {
    const app = await openMailApp(t)
    const big = await newShop(app)
    const { order } = await buy(app, big)
    await app.sendAll()
    await app.sql(
      `insert into shopper_mails (tenant_ref, kind, about_id, order_id)
       select $1, 'order_edited', gen_random_uuid(), $2 from generate_series(1, $3::int)`,
      [big.tenant, order.id, QUEUED],
    )
    await app.sql('vacuum analyze shopper_mails')
    const sentAt = new Map<string, number>()
    const transport: MailTransport = {
      async deliver({ fromName = '' }) {
        await sleep(DELIVER_MS)
        sentAt.set(fromName, performance.now())
      },
    }
    const worker = app.worker({ transport, perMinute, onFree: () => loop.wake() })
    const { logger } = app.runtime
    const loop = startLoop({ name: 'shopper mail', everyMs: 1_000, step: worker.step, logger })
    const waits: number[] = []
    try {
      await until('the queue is worked on', () => sentAt.has(`The ${big.tenant} store`), 30_000)
      for (const _ of [1, 2, 3]) {
        const small = await newShop(app)
        const begin = performance.now()
        await buy(app, small)
        await app.queue()
        const name = `The ${small.tenant} store`
        await until('its mail is sent', () => sentAt.has(name), 30_000)
        waits.push((sentAt.get(name) ?? Number.NaN) - begin)
      }
    } finally {
      await loop.stop()
      await worker.drain()
    }
    t.diagnostic(`waited ${waits.map((ms) => `${ms.toFixed(0)} ms`).join(', ')}`)
    assert.ok(Math.max(...waits) < 5_000, `waited ${Math.max(...waits)} ms`)
  })
}
