import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { LIVES } from '../../../src/compose/lives.ts'
import { makeDueExports } from '../../../src/modules/privacy/jobs.ts'
import { pruneOldRows } from '../../../src/platform/prune.ts'
import { enable, issueGiftCard, type Shop } from '../checkout/setup.ts'
import { buy, drain, keyed, type MailApp, mailsOf, newShop, shareMailApp, ship } from './setup.ts'

let app: MailApp

const ERASE = '/v1/my/privacy/erase'

async function erase({ merchant }: Shop, customer_ref: string) {
  const { body } = await merchant.post(ERASE, { customer_ref })
  const answer = await merchant.post(ERASE, { customer_ref, confirm: body.confirm }, keyed())
  assert.equal(answer.status, 200, answer.text)
}

const stored = async ({ tenant }: Shop) =>
  JSON.stringify(
    await app.sql('select to_jsonb(m) as mail from shopper_mails m where tenant_ref = $1', [
      tenant,
    ]),
  )

describe('the privacy of mails to shoppers', () => {
  const shared = shareMailApp()
  before(() => {
    app = shared.current
  })

  test('puts the mails of a customer, and of no other, into the export', async () => {
    const shop = await newShop(app)
    await buy(app, shop)
    await buy(app, shop, { customer_ref: 'bob', email: 'bob@example.com' })
    await app.sendAll()
    const asked = await shop.merchant.post('/v1/my/privacy/export', { customer_ref: 'ann' })
    const keys = {
      exportKey: app.runtime.key('privacy export'),
      customersKey: app.runtime.key('customers'),
    }
    await makeDueExports(app.runtime.workerDatabase, keys)
    const { body } = await shop.merchant.get(`/v1/my/privacy/exports/${asked.body.job.id}`)
    assert.equal(body.job.status, 'done')
    assert.equal(body.data.mails.length, 1)
    const [mail] = body.data.mails
    assert.deepEqual(
      [mail.kind, mail.recipient, mail.state],
      ['order_placed', 'ann@example.com', 'sent'],
    )
  })

  test('erases address and content of sent mails, and never sends the waiting ones', async () => {
    const shop = await newShop(app)
    const { order } = await buy(app, shop)
    await app.sendAll()
    await ship(shop, order.id)
    await app.queue()
    await erase(shop, 'ann')
    assert.deepEqual(await app.sendAll(), [])
    const rows = await stored(shop)
    assert.ok(!/ann/.test(rows.replaceAll(shop.tenant, '')), rows)
    const states = (await mailsOf(shop)).map(({ kind, state }) => `${kind} ${state}`).sort()
    assert.deepEqual(states, ['order_placed sent', 'order_shipped erased'])
    const [sent] = await mailsOf(shop, 'state=sent')
    const answer = await shop.merchant.post(`/v1/merchant/mails/${sent?.id}/resend`)
    assert.deepEqual([answer.status, answer.body.error.code], [409, 'invalid_transition'])
  })

  test('keeps nothing of a customer whose event is numbered after the erasure', async () => {
    const shop = await newShop(app)
    await buy(app, shop)
    await erase(shop, 'ann')
    assert.deepEqual(await app.sendAll(), [])
    const rows = await stored(shop)
    assert.ok(!/ann/.test(rows.replaceAll(shop.tenant, '')), rows)
  })

  test('takes back a mail from the worker that is about to send it', async () => {
    const shop = await newShop(app)
    await buy(app, shop)
    await app.queue()
    const { limits } = app.runtime
    let sent = 0
    const worker = app.worker({
      limits: {
        async velocity(...of) {
          await erase(shop, 'ann')
          return limits.velocity(...of)
        },
      },
      transport: { deliver: async () => void sent++ },
    })
    await drain(worker)
    assert.equal(sent, 0)
    assert.equal((await mailsOf(shop))[0]?.state, 'erased')
  })

  test('erases a gift card mail by the address that it went to', async () => {
    const shop = await newShop(app)
    await enable(shop.merchant, 'gift_cards')
    await buy(app, shop, { customer_ref: 'cleo', email: 'Cleo@example.com' })
    await issueGiftCard(shop.merchant, 500, { recipient_email: 'cleo@example.com' })
    assert.equal((await app.sendAll()).length, 2)
    await erase(shop, 'cleo')
    assert.ok(!/cleo/i.test((await stored(shop)).replaceAll(shop.tenant, '')))
  })

  test('deletes mails after their retention time, sent or dead, but not a gift card that waits for its day', async () => {
    const shop = await newShop(app)
    await buy(app, shop)
    await buy(app, shop)
    await app.sendAll()
    await app.sql(
      `update shopper_mails set created_at = now() - interval '91 days'
        where tenant_ref = $1 and id = (select id from shopper_mails where tenant_ref = $1 limit 1)`,
      [shop.tenant],
    )
    await app.sql(
      `insert into shopper_mails (tenant_ref, kind, about_id, next_attempt_at, created_at)
       values ($1, 'gift_card', gen_random_uuid(), now() + interval '30 days', now() - interval '91 days')`,
      [shop.tenant],
    )
    const deps = {
      database: app.runtime.workerDatabase,
      lives: LIVES,
      periods: app.runtime.config,
      archive: null,
    }
    await pruneOldRows(deps)
    const kinds = (await mailsOf(shop)).map(({ kind }) => kind).sort()
    assert.deepEqual(kinds, ['gift_card', 'order_placed'])
  })
})
