import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { RETRY_SECONDS } from '../../../src/modules/shopper-mail/jobs.ts'
import type { MailTransport } from '../../../src/platform/mail.ts'
import type { Shop } from '../checkout/setup.ts'
import { buy, drain, type MailApp, mailsOf, newShop, shareMailApp } from './setup.ts'

let app: MailApp

/** A mail server that refuses all, and repeats the address as many do. */
const REFUSING: MailTransport = {
  deliver: ({ recipient }) => Promise.reject(new Error(`550 <${recipient}> has no room`)),
}

/** Queues mails of one store, as its events would: each about something else. */
const plant = ({ tenant }: Pick<Shop, 'tenant'>, order_id: string, count: number) =>
  app.sql(
    `insert into shopper_mails (tenant_ref, kind, about_id, order_id, customer_ref)
     select $1, 'order_edited', gen_random_uuid(), $2, 'ann' from generate_series(1, $3::int)`,
    [tenant, order_id, count],
  )

const makeDue = ({ tenant }: Shop) =>
  app.sql(
    `update shopper_mails set next_attempt_at = now() - interval '1 second'
      where tenant_ref = $1 and state = 'queued'`,
    [tenant],
  )

interface Row {
  state: string
  reason: string | null
  attempt_count: number
  last_error: string | null
  interrupted: boolean
  wait: number | null
}

const rowsOf = ({ tenant }: Shop) =>
  app.sql<Row>(
    `select state, reason, attempt_count, last_error, interrupted,
            extract(epoch from next_attempt_at - now())::float8 as wait
       from shopper_mails where tenant_ref = $1 order by created_at, id`,
    [tenant],
  )

/** A store with one order whose mail waits. */
async function waiting(): Promise<Shop & { order_id: string }> {
  const shop = await newShop(app)
  const { order } = await buy(app, shop)
  await app.queue()
  return { ...shop, order_id: order.id }
}

describe('the sending of mails to shoppers', () => {
  const shared = shareMailApp()
  before(() => {
    app = shared.current
  })

  test('tries again by a growing ladder, and then gives the mail up', async () => {
    const shop = await waiting()
    const worker = app.worker({ transport: REFUSING })
    for (const [index, seconds] of RETRY_SECONDS.entries()) {
      assert.equal(await drain(worker), 1)
      const [row] = await rowsOf(shop)
      assert.deepEqual([row?.state, row?.attempt_count], ['queued', index + 1])
      assert.ok(row?.wait && row.wait <= seconds && row.wait > seconds - 30, `${row?.wait} s`)
      assert.equal(await drain(worker), 0, 'it is not due before')
      await makeDue(shop)
    }
    assert.equal(await drain(worker), 1)
    const [dead] = await rowsOf(shop)
    assert.deepEqual(
      [dead?.state, dead?.reason, dead?.attempt_count, dead?.wait],
      ['dead', 'refused', RETRY_SECONDS.length + 1, null],
    )
    assert.equal(dead?.last_error, '550 <[address]> has no room', 'without the address')
    assert.deepEqual(await app.sendAll(), [], 'a dead letter is not sent by itself')
  })

  test('shows the operator each dead letter, without text and with most of the address left out', async () => {
    const shop = await waiting()
    await app.sql('update shopper_mails set attempt_count = 6 where tenant_ref = $1', [shop.tenant])
    await drain(app.worker({ transport: REFUSING }))
    const { body, text } = await app.operator.get(`/v1/mails?state=dead&tenant_ref=${shop.tenant}`)
    const [mail] = body.mails
    assert.deepEqual(
      [body.total, mail.tenant_ref, mail.kind, mail.recipient, mail.last_error],
      [1, shop.tenant, 'order_placed', 'a***@example.com', '550 <[address]> has no room'],
    )
    assert.ok(!text.includes('ann@example.com') && !text.includes('Worth 1000'))
  })

  test('gives a mail up at once if no mail server could ever accept it', async () => {
    const shop = await newShop(app)
    const { order } = await buy(app, shop)
    await app.sql(`update orders set email = 'a b@x, c@d' where id = $1`, [order.id])
    assert.deepEqual(await app.sendAll(), [])
    const [row] = await rowsOf(shop)
    assert.deepEqual([row?.state, row?.reason], ['dead', 'refused'])
  })

  test('repeats a mail once after a worker was killed before it wrote down the answer', async () => {
    const shop = await waiting()
    const killed = async () => {
      throw new Error('killed')
    }
    const dying = app.worker({ onAccepted: killed })
    const before = app.received().length
    for (const _ of [1, 2]) {
      await assert.rejects(app.sendAll(dying), /killed/)
      assert.deepEqual(await app.sendAll(), [], 'its lease protects the mail')
      await app.sql('update shopper_mails set lease_until = now() where tenant_ref = $1', [
        shop.tenant,
      ])
    }
    const [row] = await rowsOf(shop)
    assert.deepEqual([row?.state, row?.interrupted], ['queued', true])
    assert.deepEqual(await app.sendAll(), [], 'never a third time')
    const sent = app.received().slice(before)
    assert.equal(sent.length, 2)
    assert.equal(new Set(sent.map((mail) => mail.header('message-id'))).size, 1)
    const [dead] = await rowsOf(shop)
    assert.deepEqual([dead?.state, dead?.reason], ['dead', 'interrupted'])
  })

  test('sends an interrupted mail once more under the same message-id', async () => {
    const shop = await waiting()
    const first = await app.sendAll()
    await app.sql(
      `update shopper_mails set state = 'queued', sending_at = now(), next_attempt_at = now(), sent_at = null
        where tenant_ref = $1`,
      [shop.tenant],
    )
    const second = await app.sendAll()
    assert.equal(second.length, 1)
    assert.equal(second[0]?.header('message-id'), first[0]?.header('message-id'))
    assert.equal((await rowsOf(shop))[0]?.state, 'sent')
  })

  test('never sends a mail twice from two workers', async () => {
    const shop = await waiting()
    await plant(shop, shop.order_id, 30)
    const before = await mailsOf(shop, 'state=queued')
    assert.equal(before.length, 31)
    const counts = await Promise.all([app.worker(), app.worker(), app.worker()].map(drain))
    assert.equal(
      counts.reduce((sum, each) => sum + each, 0),
      31,
    )
    const rows = await rowsOf(shop)
    assert.ok(rows.every(({ state, attempt_count }) => state === 'sent' && attempt_count === 1))
  })

  test('lets another store send at once while one has a long queue and the server is slow', async () => {
    const big = await waiting()
    await plant(big, big.order_id, 300)
    const sent: string[] = []
    const slow: MailTransport = {
      async deliver({ fromName }) {
        await new Promise((resolve) => setTimeout(resolve, 20))
        sent.push(fromName ?? '')
      },
    }
    const worker = app.worker({ transport: slow })
    const { signal } = new AbortController()
    await worker.step(signal)
    const small = await waiting()
    const isDone = () => sent.includes(`The ${small.tenant} store`)
    for (let steps = 0; !isDone() && steps < 1_000; steps++) {
      await worker.step(signal)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    assert.ok(isDone())
    assert.ok(sent.length < 60, `${sent.length} of the other store came first`)
    await worker.drain()
    await app.sql(`delete from shopper_mails where tenant_ref = $1`, [big.tenant])
  })

  test('sends no more mails of one store in a minute than its limit, and mails of other stores meanwhile', async () => {
    const busy = await waiting()
    await plant(busy, busy.order_id, 9)
    const worker = app.worker({ perMinute: 4 })
    await drain(worker)
    const states = (await rowsOf(busy)).map(({ state }) => state)
    assert.equal(states.filter((state) => state === 'sent').length, 4)
    const other = await waiting()
    await drain(worker)
    assert.equal((await rowsOf(other))[0]?.state, 'sent')
    assert.equal((await rowsOf(busy)).filter(({ state }) => state === 'queued').length, 6)
    const leased = await app.sql('select from shopper_mails where lease_token is not null')
    assert.equal(leased.length, 0, 'no row is held back')
    await app.sql(`delete from shopper_mails where tenant_ref = $1`, [busy.tenant])
  })

  test('does not send a mail that is days old, for instance after the worker stood still', async () => {
    const shop = await waiting()
    await app.sql(
      `update shopper_mails set queued_at = now() - interval '4 days' where tenant_ref = $1`,
      [shop.tenant],
    )
    assert.deepEqual(await app.sendAll(), [])
    const [row] = await rowsOf(shop)
    assert.deepEqual([row?.state, row?.reason], ['skipped', 'too_old'])
  })

  test('adds no statement to a checkout: the event alone causes the mail, later', async () => {
    const shop = await newShop(app)
    const { order } = await buy(app, shop)
    assert.deepEqual(await rowsOf(shop), [])
    const [event] = await app.sql<{ id: string }>(
      `select id from webhook_events where tenant_ref = $1 and order_id = $2`,
      [shop.tenant, order.id],
    )
    assert.ok(event)
    await app.queue()
    assert.equal((await rowsOf(shop)).length, 1)
  })

  test('queues one mail for an event that is numbered twice, and another for a second event of its kind', async () => {
    const shop = await waiting()
    await app.sql(
      `insert into webhook_events (tenant_ref, type, data, order_id, customer_ref)
       select tenant_ref, type, '{}', order_id, customer_ref from webhook_events
        where tenant_ref = $1`,
      [shop.tenant],
    )
    await app.queue()
    assert.equal((await rowsOf(shop)).length, 1)
    await app.sendAll()
  })

  test('postpones a mail that cannot be written, and sends the others', async () => {
    const shop = await waiting()
    await app.sql(
      `insert into shopper_mails (tenant_ref, kind, about_id, order_id, created_at)
       values ($1, 'order_placed', gen_random_uuid(), gen_random_uuid(), now() - interval '1 hour')`,
      [shop.tenant],
    )
    const broken = await waiting()
    await app.sql(`update stores set time_zone = 'No/Where' where tenant_ref = $1`, [broken.tenant])
    assert.equal((await app.sendAll()).length, 1)
    const states = (await rowsOf(shop)).map(({ state, attempt_count }) => [state, attempt_count])
    assert.deepEqual(states, [
      ['queued', 1],
      ['sent', 1],
    ])
    const [row] = await rowsOf(broken)
    assert.deepEqual([row?.state, row?.attempt_count], ['queued', 1])
    assert.match(row?.last_error ?? '', /time zone/i)
  })

  test('a sandbox sends mails to its owner alone, and keeps them from all others, also when sent again', async () => {
    const shop = await newShop(app)
    await app.operator.put(`/v1/stores/${shop.tenant}/owner`, { email: 'owner@shop.example' })
    await app.operator.put(`/v1/stores/${shop.tenant}/sandbox`, { sandbox: true })
    await buy(app, shop, { email: 'stranger@example.com' })
    await buy(app, shop, { email: 'owner+ann@shop.example', customer_ref: 'owner' })
    const sent = await app.sendAll()
    assert.deepEqual(
      sent.map(({ to }) => to),
      [['owner+ann@shop.example']],
    )
    const [kept] = await mailsOf(shop, 'state=skipped')
    assert.deepEqual([kept?.kind, kept?.reason], ['order_placed', 'sandbox'])
    assert.equal((await shop.merchant.post(`/v1/merchant/mails/${kept?.id}/resend`)).status, 202)
    assert.deepEqual(await app.sendAll(), [])
    assert.equal((await mailsOf(shop, 'state=skipped')).length, 1)
  })

  test('survives an event without the data that a mail needs', async () => {
    const shop = await newShop(app)
    for (const data of ['{}', '{"fulfillment":7}', '{"refund":{"refund_id":"x"}}', '[]']) {
      for (const type of ['shipped', 'refunded', 'held', 'edited']) {
        await app.sql(`insert into webhook_events (tenant_ref, type, data) values ($1, $2, $3)`, [
          shop.tenant,
          `commerce.order.${type}.v1`,
          data,
        ])
      }
    }
    await app.queue()
    assert.deepEqual(await app.sendAll(), [])
    const [{ unnumbered } = { unnumbered: -1 }] = await app.sql<{ unnumbered: number }>(
      `select count(*)::int as unnumbered from webhook_events where payload is null`,
    )
    assert.equal(unnumbered, 0)
    await app.sql(`delete from shopper_mails where tenant_ref = $1`, [shop.tenant])
  })
})
