import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { openHandlers } from '../../../src/compose/handlers.ts'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import { runDue } from '../../../src/modules/renewals/jobs.ts'
import { openLink } from '../../../src/modules/subscriptions/link.ts'
import { deliverDue } from '../../harness/outbox.ts'
import { suiteScope } from '../../harness/scope.ts'
import { moveTo } from '../../harness/store-time.ts'
import { addVariant, checkout, enable, openShop, type Shop } from '../checkout/setup.ts'
import { type MailApp, openMailApp } from '../shopper-mail/setup.ts'
import { CARDS } from './setup.ts'

describe('the mails of a subscription', () => {
  const scope = suiteScope()
  let app: MailApp
  before(async () => {
    app = await openMailApp(scope)
  })

  const setTime = ({ tenant }: Shop, at: string) => {
    moveTo(app.runtime, tenant, at)
  }
  const dbOf = ({ tenant }: Shop) => app.runtime.workerDatabase.tenant(tenant)
  const run = (shop: Shop) => runDue(openCheckout(app.runtime), dbOf(shop))
  /** Does what is due and sends the mails about it; the worker of mails goes by the store's time. */
  const mails = async (shop: Shop) => {
    await run(shop)
    await app.queue()
    await app.sql(
      `update shopper_mails set next_attempt_at = now(), queued_at = now() + interval '10 years'
        where tenant_ref = $1 and next_attempt_at is not null`,
      [shop.tenant],
    )
    const sent = await app.sendAll()
    return sent.filter(({ to }) => to.includes(`ann@${shop.tenant}.example`))
  }
  const subscribed = async (settings: Record<string, unknown> = {}, more: object = {}) => {
    const shop = await openShop(app, `shop-${randomUUID().slice(0, 8)}`, [])
    await enable(shop.merchant, 'subscriptions')
    const columns = Object.entries(settings)
    if (columns.length > 0) {
      await app.sql(
        `insert into subscription_settings (tenant_ref, ${columns.map(([name]) => name)})
         values ($1, ${columns.map((_, at) => `$${at + 2}`)})`,
        [shop.tenant, ...columns.map(([, value]) => value)],
      )
    }
    const terms = { is_subscription: true, subscription_interval: 'month', name: 'Green tea' }
    const variant_id = await addVariant(shop.merchant, 1_000, terms)
    setTime(shop, '2027-01-10T12:00:00Z')
    const answer = await checkout(app, shop, {
      customer_ref: randomUUID(),
      items: [{ variant_id, quantity: 1 }],
      card: CARDS.approved,
      subscribe: true,
      email: `ann@${shop.tenant}.example`,
      ...more,
    })
    assert.equal(answer.status, 201, answer.text)
    await mails(shop)
    return { shop, id: answer.body.subscriptions[0].id as string, variant_id }
  }
  const subjects = (sent: { subject: string }[]) =>
    sent.map(({ subject }) => subject.replace(/ – .*/, ''))

  test('are one receipt for a renewal: the confirmation of its order', async () => {
    const { shop } = await subscribed()
    setTime(shop, '2027-02-10T06:01:00Z')
    assert.deepEqual(subjects(await mails(shop)), ['Order #1002 confirmed'])
  })

  test('announce a renewal once, as many days ahead as the store says', async () => {
    const { shop } = await subscribed({ pre_renewal_notice_days: 3 })
    setTime(shop, '2027-02-07T05:59:00Z')
    assert.deepEqual(await mails(shop), [])
    setTime(shop, '2027-02-07T06:01:00Z')
    const [notice, ...more] = await mails(shop)
    assert.deepEqual(
      [notice?.subject.replace(/ – .*/, ''), more],
      ['Your next delivery of Green tea', []],
    )
    assert.match(notice?.text ?? '', /renews on February 10, 2027\. We then charge \$10\.00/)
    setTime(shop, '2027-02-08T06:01:00Z')
    assert.deepEqual(await mails(shop), [])
  })

  test('come earlier once the store sets more days, also for earlier subscriptions, and never twice', async () => {
    const { shop } = await subscribed()
    const say = async (pre_renewal_notice_days: number | null) => {
      const settings = { pre_renewal_notice_days }
      const put = await shop.merchant.put('/v1/merchant/subscriptions/settings', settings)
      assert.equal(put.status, 200, put.text)
      const { workerDatabase } = app.runtime
      while ((await deliverDue(workerDatabase, await openHandlers(app.runtime), { slots: 4 })) > 0);
    }
    setTime(shop, '2027-02-01T12:00:00Z')
    await say(5)
    assert.deepEqual(await mails(shop), [])
    setTime(shop, '2027-02-05T06:01:00Z')
    assert.equal((await mails(shop)).length, 1, 'five days before 10 February')
    await say(20)
    assert.deepEqual(await mails(shop), [], 'of this charge they were told')
    setTime(shop, '2027-02-10T06:01:00Z')
    await mails(shop)
    setTime(shop, '2027-02-18T05:59:00Z')
    assert.deepEqual(await mails(shop), [])
    setTime(shop, '2027-02-18T06:01:00Z')
    assert.equal((await mails(shop)).length, 1, 'twenty days before 10 March')
    setTime(shop, '2027-03-10T06:01:00Z')
    await mails(shop)
    await say(null)
    setTime(shop, '2027-04-09T12:00:00Z')
    assert.deepEqual(await mails(shop), [], 'a store that says none sends none')
    await say(2)
    assert.equal((await mails(shop)).length, 1, 'its time has passed already: at once')
  })

  test('announce a changed price before it is charged', async () => {
    const { shop, id, variant_id } = await subscribed()
    await app.sql(`update subscriptions set price_policy = 'current' where id = $1`, [id])
    setTime(shop, '2027-02-04T06:01:00Z')
    assert.deepEqual(await mails(shop), [], 'the price is the same, and the store sends no notices')
    setTime(shop, '2027-02-10T06:01:00Z')
    await mails(shop)
    await app.sql('update variants set price_cents = 1250 where id = $1', [variant_id])
    setTime(shop, '2027-03-04T06:01:00Z')
    const [notice] = await mails(shop)
    assert.match(notice?.subject ?? '', /^The price of your subscription changes/)
    assert.match(notice?.text ?? '', /\$12\.50/)
  })

  test('explain at the first decline how to enter another card, again before the last attempt, and report the end', async () => {
    const { shop, id } = await subscribed(
      { dunning_delays_days: [1, 3, 5] },
      { card: CARDS.alwaysDeclined },
    )
    const told: string[] = []
    for (const at of ['10', '11', '14', '19']) {
      setTime(shop, `2027-02-${at}T11:00:00Z`)
      const sent = await mails(shop)
      told.push(subjects(sent).join(' + '))
      if (at !== '10') continue
      const [mail] = sent
      assert.match(mail?.text ?? '', /We try again on February 11, 2027/)
      const token = /\/subscriptions\/link\/([\w-]+)/.exec(mail?.text ?? '')?.[1] ?? ''
      const links = { key: app.runtime.key('subscription link') }
      assert.equal((await openLink(links, dbOf(shop), token)).subscription_id, id)
      const gone = { code: 'subscription_not_found' }
      const stranger = app.runtime.database.tenant('another')
      await assert.rejects(openLink(links, stranger, token), gone, 'only in its own store')
      const orderLinks = { key: app.runtime.key('order link') }
      await assert.rejects(openLink(orderLinks, dbOf(shop), token), gone)
      setTime(shop, '2027-03-20T11:00:00Z')
      await assert.rejects(openLink(links, dbOf(shop), token), gone, 'not for ever')
    }
    assert.deepEqual(told, [
      'We could not charge your card for Green tea',
      '',
      'Last attempt to charge your card for Green tea',
      'Your subscription to Green tea has ended',
    ])
  })

  test('thank for a payment that succeeded in the end', async () => {
    const { shop } = await subscribed(
      { dunning_delays_days: [1, 1, 1] },
      { card: CARDS.twiceDeclined },
    )
    const told: string[][] = []
    for (const at of ['10', '11', '12']) {
      setTime(shop, `2027-02-${at}T11:00:00Z`)
      told.push(subjects(await mails(shop)))
    }
    assert.deepEqual(told[2]?.toSorted(), [
      'Order #1004 confirmed',
      'Your payment for Green tea went through',
    ])
  })

  test("announce that a card expires 30 days and 7 days before, once each, for the subscription's card alone", async () => {
    const { shop, id } = await subscribed()
    await app.sql(
      'update subscriptions set card_exp_month = 3, card_exp_year = 2027 where id = $1',
      [id],
    )
    const told: string[] = []
    for (const at of ['02-28', '03-03', '03-04', '03-24', '03-26', '03-27']) {
      setTime(shop, `2027-${at}T12:00:00Z`)
      for (const { subject, text } of await mails(shop)) {
        if (!subject.startsWith('Your card expires soon')) continue
        assert.match(text, /until March 31, 2027/)
        told.push(at)
      }
    }
    assert.deepEqual(told, ['03-03', '03-26'])
    await app.sql('update subscriptions set card_exp_year = 2029 where id = $1', [id])
    setTime(shop, '2027-04-05T12:00:00Z')
    assert.deepEqual(subjects(await mails(shop)), [], 'another card')
  })

  test('do not tell a shopper that they are suspected of fraud', async () => {
    const { shop } = await subscribed()
    const ban = { kind: 'email', value: `ann@${shop.tenant}.example`, reason: 'x' }
    await shop.merchant.post('/v1/merchant/fraud/bans', ban)
    setTime(shop, '2027-02-10T06:01:00Z')
    assert.deepEqual(await mails(shop), [])
  })
})
