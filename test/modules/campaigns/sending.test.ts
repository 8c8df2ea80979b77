import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { RETRY_SECONDS, WAVE, WAVES } from '../../../src/modules/campaigns/mailing.ts'
import type { BulkTransport, Outcome } from '../../../src/platform/bulk-smtp.ts'
import type { Caller } from '../../harness/app.ts'
import {
  act,
  addReaders,
  assertCountsAddUp,
  type CampaignApp,
  countByAddress,
  createCampaign,
  createSegment,
  drain,
  LETTER,
  readCampaign,
  removeSegment,
  shareCampaignApp,
  startMail,
  URL,
} from './setup.ts'

let app: CampaignApp

const HOUR = 3_600_000
const SIGNAL = new AbortController().signal

/** A mail server that answers as a test wants. */
const answering = (answer: (to: string) => Promise<Outcome> | Outcome): BulkTransport => ({
  deliver: async ({ to }) => answer(to),
  close: () => {},
})

const DOWN = answering(() => ({ state: 'unavailable', error: 'connect ECONNREFUSED' }))

const recipientsOf = async (merchant: Caller, id: string, state = '') =>
  (await merchant.get(`${URL}/${id}/recipients?limit=100&state=${state}`)).body.recipients as {
    email: string
    state: string
    reason: string | null
    attempt_count: number
    next_attempt_at: string | null
  }[]

const makeDue = ({ id }: { id: string }) =>
  app.sql(
    `with r as (update campaign_recipients set next_attempt_at = now()
                 where campaign_id = $1 and state = 'queued')
     update campaign_mailings set due_at = now() where id = $1`,
    [id],
  )

const endLease = ({ id }: { id: string }) =>
  app.sql('update campaign_mailings set lease_until = now() where id = $1', [id])

describe('the mails of a campaign', () => {
  const shared = shareCampaignApp()
  before(() => {
    app = shared.current
  })

  test('go to each address of the segment once, and the campaign ends with the last', async () => {
    const { tenant, merchant } = await app.newStore()
    const readers = await addReaders(app, tenant, 130)
    const campaign = await startMail(merchant)
    assert.equal(campaign.status, 'active')
    const sent = await app.sendAll()
    assert.deepEqual([...countByAddress(sent).keys()].sort(), readers)
    assert.equal(sent.length, 130)
    const { status, mailing } = await readCampaign(merchant, campaign.id)
    assert.equal(status, 'ended')
    assert.deepEqual(mailing, {
      state: 'done',
      recipients_count: 130,
      left_out_count: 0,
      queued_count: 0,
      sent_count: 130,
      skipped_count: 0,
      failed_count: 0,
      unknown_count: 0,
    })
    assert.deepEqual(await app.sendAll(), [])
    await assertCountsAddUp(app)
  })

  test('are HTML and text with a link to leave, and its headers on one line each', async () => {
    const { tenant, merchant } = await app.newStore()
    const [reader = ''] = await addReaders(app, tenant, 1)
    const { id } = await startMail(merchant, {
      subject: 'Fünf neue Tassen für Sie – nur im Mai, und nur solange der Vorrat reicht',
      sender_name: 'Ännes "Laden"',
      reply_to: 'anne@shop.example',
    })
    const before = app.received.length
    const [mail] = await app.sendAll()
    assert.ok(mail)
    assert.deepEqual(mail.to, [reader])
    assert.equal(
      mail.subject,
      'Fünf neue Tassen für Sie – nur im Mai, und nur solange der Vorrat reicht',
    )
    assert.equal(mail.header('reply-to'), 'anne@shop.example')
    assert.match(mail.header('from') ?? '', /<news@fairdock\.example>$/)
    assert.match(mail.html ?? '', /<h1>Hello<\/h1>/)
    assert.match(mail.html ?? '', /<a href="https:\/\/shop\.example\/cups">here<\/a>/)
    assert.match(mail.text, /^# Hello\n/)
    const raw = app.received[before]?.raw ?? ''
    const line =
      /^List-Unsubscribe: <(http:\/\/platform\.example\/v1\/unsubscribe\/[\w-]+)>\r$/m.exec(raw)
    assert.ok(line, 'the address stands on the line of its header')
    assert.match(raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
    assert.ok(mail.text.includes('/v1/unsubscribe/') && mail.html?.includes('/v1/unsubscribe/'))

    // The link works, and a second campaign does not reach who left.
    const left = await fetch(app.url + new globalThis.URL(line[1] ?? '').pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    })
    assert.equal(left.status, 200)
    assert.equal((await readCampaign(merchant, id)).mailing.sent_count, 1)
    const second = await startMail(merchant)
    assert.deepEqual(await app.sendAll(), [])
    assert.equal((await readCampaign(merchant, second.id)).mailing.recipients_count, 0)
  })

  test('leave out who has not consented or is suppressed, and say how many', async () => {
    const { tenant, merchant } = await app.newStore()
    const [bounced = ''] = await addReaders(app, tenant, 3)
    await app.sql(
      `insert into segment_people (tenant_ref, email_folded, email, orders_count, last_order_at)
       values ($1, 'buyer@readers.example', 'buyer@readers.example', 1, now())`,
      [tenant],
    )
    const added = await merchant.post('/v1/merchant/marketing/suppressions', { email: bounced })
    assert.equal(added.status, 201, added.text)
    const everybody = await createSegment(merchant, {
      match: 'any',
      conditions: [
        { field: 'orders_count', op: 'gte', value: 1 },
        { field: 'consent', op: 'is', value: 'given' },
      ],
    })
    const { id } = await createCampaign(merchant, { ...LETTER, segment_id: everybody })
    await act(merchant, id, 'schedule', {})
    const sent = await app.sendAll()
    assert.equal(sent.length, 2)
    const { mailing } = await readCampaign(merchant, id)
    assert.deepEqual([mailing.recipients_count, mailing.left_out_count], [2, 2])
  })

  test('ask again for consent at the claim of each address', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, WAVE * 4)
    const campaign = await startMail(merchant)
    // Written down, and not sent.
    await drain(app.worker({ transport: DOWN }))
    const [last] = await app.sql<{ email: string }>(
      'select email from campaign_recipients where campaign_id = $1 order by id desc limit 1',
      [campaign.id],
    )
    await makeDue(campaign)
    const leaving = answering(async () => {
      // While the first waves are sent, a reader of the last one leaves.
      await app.sql(
        `update newsletter_subscribers set status = 'unsubscribed', unsubscribed_at = now()
          where tenant_ref = $1 and email = $2 and status = 'subscribed'`,
        [tenant, last?.email],
      )
      return { state: 'sent' }
    })
    await drain(app.worker({ transport: leaving }))
    const skipped = await recipientsOf(merchant, campaign.id, 'skipped')
    assert.deepEqual(
      skipped.map(({ email, reason }) => [email, reason]),
      [[last?.email, 'not_allowed']],
    )
    await assertCountsAddUp(app)
  })

  test('pause and go on in the middle, and reach each address once', async () => {
    const { tenant, merchant } = await app.newStore()
    const readers = await addReaders(app, tenant, 300)
    const campaign = await startMail(merchant)
    const got: string[] = []
    let pausing: Promise<unknown> | null = null
    const worker = app.worker({
      transport: answering(async (to) => {
        got.push(to)
        if (got.length === 100) pausing = act(merchant, campaign.id, 'pause')
        await sleep(1)
        return { state: 'sent' }
      }),
    })
    await drain(worker)
    await pausing
    assert.ok(got.length >= 100 && got.length < 300, `${got.length} before the pause`)
    await drain(worker)
    const paused = await readCampaign(merchant, campaign.id)
    assert.deepEqual([paused.status, paused.mailing.sent_count], ['paused', got.length])
    await act(merchant, campaign.id, 'resume')
    await drain(worker)
    assert.deepEqual(got.toSorted(), readers)
    assert.equal((await readCampaign(merchant, campaign.id)).mailing.unknown_count, 0)
    await assertCountsAddUp(app)
  })

  test('stop for good when the campaign is cancelled', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 60)
    const campaign = await startMail(merchant)
    await act(merchant, campaign.id, 'cancel')
    assert.deepEqual(await app.sendAll(), [])
    assert.equal((await merchant.post(`${URL}/${campaign.id}/resume`)).status, 409)
  })

  test('are tried again where a server defers them, by a ladder, and then given up', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    const campaign = await startMail(merchant)
    const worker = app.worker({
      transport: answering((to) => ({ state: 'deferred', error: `450 <${to}> is busy` })),
    })
    for (const [index, seconds] of RETRY_SECONDS.entries()) {
      await drain(worker)
      const [row] = await recipientsOf(merchant, campaign.id)
      assert.deepEqual([row?.state, row?.attempt_count], ['queued', index + 1])
      const wait = (Date.parse(row?.next_attempt_at ?? '') - Date.now()) / 1_000
      assert.ok(wait > seconds - 60 && wait <= seconds, `${wait} s`)
      await makeDue(campaign)
    }
    await drain(worker)
    const [row] = await recipientsOf(merchant, campaign.id)
    assert.deepEqual([row?.state, row?.reason], ['failed', 'refused'])
    const [{ last_error } = { last_error: '' }] = await app.sql<{ last_error: string }>(
      'select last_error from campaign_recipients where campaign_id = $1',
      [campaign.id],
    )
    assert.equal(last_error, '450 <[address]> is busy', 'without the address')
    assert.equal((await readCampaign(merchant, campaign.id)).status, 'ended')
  })

  test('spend no attempt while the mail server takes none at all', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 70)
    const campaign = await startMail(merchant)
    let tries = 0
    const down = app.worker({
      transport: answering(() => {
        tries += 1
        return { state: 'unavailable', error: 'connect ECONNREFUSED' }
      }),
    })
    await drain(down)
    assert.ok(tries < 70, `${tries} tries of 70`)
    await makeDue(campaign)
    const sent = await app.sendAll()
    assert.equal(sent.length, 70)
    const rows = await recipientsOf(merchant, campaign.id)
    assert.ok(rows.every(({ attempt_count }) => attempt_count === 1))
  })

  test('of which nobody knows whether they were sent are unknown, and never sent again', async () => {
    const { tenant, merchant } = await app.newStore()
    const [lost = ''] = await addReaders(app, tenant, 3)
    const campaign = await startMail(merchant)
    const worker = app.worker({
      transport: answering((to) =>
        to === lost ? { state: 'unknown', error: 'the connection has ended' } : { state: 'sent' },
      ),
    })
    await drain(worker)
    const unknown = await recipientsOf(merchant, campaign.id, 'unknown')
    assert.deepEqual(
      unknown.map(({ email, reason }) => [email, reason]),
      [[lost, 'no_reply']],
    )
    assert.equal((await readCampaign(merchant, campaign.id)).mailing.unknown_count, 1)
    assert.deepEqual(await app.sendAll(), [])
  })

  test('that a killed worker had claimed are unknown, and all others are sent once', async () => {
    const { tenant, merchant } = await app.newStore()
    const readers = await addReaders(app, tenant, 200)
    const campaign = await startMail(merchant)
    const got: string[] = []
    const transport = answering((to) => {
      got.push(to)
      return { state: 'sent' }
    })
    const dying = app.worker({
      transport,
      onAnswered: async () => {
        throw new Error('killed')
      },
    })
    await dying.step(SIGNAL)
    await assert.rejects(dying.drain(), /killed/)
    const claimed = got.length
    assert.ok(claimed > 0 && claimed <= WAVES * WAVE)
    const living = app.worker({ transport })
    await drain(living)
    assert.equal(got.length, claimed, 'its lease protects what it has claimed')
    await endLease(campaign)
    await drain(living)
    assert.deepEqual(got.toSorted(), readers, 'each address once')
    const { mailing } = await readCampaign(merchant, campaign.id)
    assert.deepEqual([mailing.unknown_count, mailing.sent_count], [claimed, 200 - claimed])
    await assertCountsAddUp(app)
  })

  test('keep the result of a worker that was overtaken: it knows what it sent', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 5)
    const campaign = await startMail(merchant)
    const held = Promise.withResolvers<void>()
    const slow = app.worker({
      transport: answering(() => ({ state: 'sent' })),
      onAnswered: () => held.promise,
    })
    await slow.step(SIGNAL)
    for (;;) {
      const [row] = await app.sql<{ claimed: number }>(
        'select cardinality(in_flight) as claimed from campaign_mailings where id = $1',
        [campaign.id],
      )
      if (row?.claimed === 5) break
      await sleep(5)
    }
    await app.sql(
      'update campaign_mailings set lease_until = now(), lease_token = gen_random_uuid() where id = $1',
      [campaign.id],
    )
    await drain(app.worker({ transport: answering(() => assert.fail('nothing is left to send')) }))
    assert.equal((await readCampaign(merchant, campaign.id)).mailing.unknown_count, 5)
    held.resolve()
    await slow.drain()
    const { mailing } = await readCampaign(merchant, campaign.id)
    assert.deepEqual([mailing.unknown_count, mailing.sent_count], [0, 5])
    await assertCountsAddUp(app)
  })

  test('are never sent twice by two workers', async () => {
    const { tenant, merchant } = await app.newStore()
    const readers = await addReaders(app, tenant, 250)
    await startMail(merchant)
    const before = app.received.length
    await Promise.all([app.worker(), app.worker(), app.worker()].map(drain))
    const counts = countByAddress(app.received.slice(before))
    assert.deepEqual([...counts.keys()].sort(), readers)
    assert.ok([...counts.values()].every((count) => count === 1))
  })

  test('do not stop at an address that no mail can go to', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 2)
    await addReaders(app, tenant, 1, 'zo"e')
    const campaign = await startMail(merchant)
    assert.equal((await app.sendAll()).length, 2)
    const failed = await recipientsOf(merchant, campaign.id, 'failed')
    assert.equal(failed.length, 1)
  })

  test('of more than an hour ago are not sent by themselves: the merchant is asked', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    await app.sql(`update stores set owner_email = 'owner@shop.example' where tenant_ref = $1`, [
      tenant,
    ])
    const segment_id = await createSegment(merchant)
    const { id } = await createCampaign(merchant, { ...LETTER, segment_id })
    const send_at = new Date(Date.now() + HOUR).toISOString()
    assert.equal((await act(merchant, id, 'schedule', { send_at })).status, 'scheduled')
    await app.sql(
      `update campaigns set starts_at = now() - interval '61 minutes', due_at = now() - interval '61 minutes'
        where id = $1`,
      [id],
    )
    await app.moveDue()
    const late = await readCampaign(merchant, id)
    assert.deepEqual([late.status, late.pause_reason], ['paused', 'late'])
    assert.deepEqual(await app.sendAll(), [])
    const [event] = await app.sql<{ data: { campaign: { id: string }; reason: string } }>(
      `select data::jsonb as data from webhook_events where tenant_ref = $1 and type = 'commerce.campaign.paused.v1'`,
      [tenant],
    )
    assert.deepEqual([event?.data.campaign.id, event?.data.reason], [id, 'late'])
    const mails = await app.sql<{ recipient: string }>(
      'select recipient from mails where tenant_ref = $1',
      [tenant],
    )
    assert.deepEqual(mails, [{ recipient: 'owner@shop.example' }])
    await act(merchant, id, 'resume')
    assert.equal((await app.sendAll()).length, 1, 'the merchant has decided')
  })

  test('that are a little late are sent', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    const segment_id = await createSegment(merchant)
    const { id } = await createCampaign(merchant, { ...LETTER, segment_id })
    await act(merchant, id, 'schedule', { send_at: new Date(Date.now() + HOUR).toISOString() })
    await app.sql(
      `update campaigns set starts_at = now() - interval '59 minutes', due_at = now() - interval '59 minutes'
        where id = $1`,
      [id],
    )
    await app.moveDue()
    assert.equal((await app.sendAll()).length, 1)
  })

  test('are scanned again when they are sent, and the campaign asks', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    const { id } = await startMail(merchant)
    await app.sql(`update campaigns set body_markdown = 'Our tea cures cancer.' where id = $1`, [
      id,
    ])
    assert.deepEqual(await app.sendAll(), [])
    const stopped = await readCampaign(merchant, id)
    assert.deepEqual([stopped.status, stopped.pause_reason], ['paused', 'claims'])
    const refused = await merchant.post(`${URL}/${id}/resume`)
    assert.equal(refused.body.error.code, 'ruo_claims_violation')
    await merchant.patch(`${URL}/${id}`, { body_markdown: 'Our tea is new.' })
    await act(merchant, id, 'resume')
    assert.equal((await app.sendAll()).length, 1)
  })

  test('stop where the segment is gone, and the campaign asks', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    const campaign = await startMail(merchant)
    assert.equal((await removeSegment(merchant, campaign.segment_id)).status, 200)
    assert.deepEqual(await app.sendAll(), [])
    const stopped = await readCampaign(merchant, campaign.id)
    assert.deepEqual([stopped.status, stopped.pause_reason], ['paused', 'segment'])
  })

  test('of a suspended store wait until it is live again', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    const campaign = await startMail(merchant)
    await app.sql(`update stores set status = 'suspended' where tenant_ref = $1`, [tenant])
    assert.deepEqual(await app.sendAll(), [])
    await app.sql(`update stores set status = 'live' where tenant_ref = $1`, [tenant])
    await makeDue(campaign)
    assert.equal((await app.sendAll()).length, 1)
  })

  test('of one store do not hold up those of another', async () => {
    const [big, small] = [await app.newStore(), await app.newStore()]
    await addReaders(app, big.tenant, 2_000, 'big')
    await addReaders(app, small.tenant, 3, 'small')
    await startMail(big.merchant)
    const got: string[] = []
    const worker = app.worker({
      transport: answering(async (to) => {
        await sleep(2)
        got.push(to)
        return { state: 'sent' }
      }),
    })
    await worker.step(SIGNAL)
    while (got.length < 50) await sleep(5)
    await startMail(small.merchant)
    const isDone = () => got.filter((to) => to.startsWith('small')).length === 3
    for (let steps = 0; !isDone() && steps < 1_000; steps++) {
      await worker.step(SIGNAL)
      await sleep(5)
    }
    assert.ok(isDone())
    assert.ok(got.length < 1_500, `${got.length} of the other store came first`)
    await drain(worker)
  })

  test('are no more in a minute than the limit of a store', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 100)
    const campaign = await startMail(merchant)
    const sent = await app.sendAll(app.worker({ perMinute: 2 * WAVE }))
    assert.ok(sent.length > 0 && sent.length <= 2 * WAVE, `${sent.length} were sent`)
    assert.equal((await readCampaign(merchant, campaign.id)).status, 'active')
    await makeDue(campaign)
    assert.equal((await app.sendAll()).length, 100 - sent.length)
  })

  test('of a person who is erased are not sent, and the rest is', async () => {
    const { tenant, merchant } = await app.newStore()
    const [gone = ''] = await addReaders(app, tenant, 2)
    const customer_ref = 'ann'
    await app.sql(
      `update segment_people set customer_ref = $3, orders_count = 1, last_order_at = now()
        where tenant_ref = $1 and email = $2`,
      [tenant, gone, customer_ref],
    )
    const campaign = await startMail(merchant)
    await drain(app.worker({ transport: DOWN }))
    const url = '/v1/my/privacy/erase'
    const asked = await merchant.post(url, { customer_ref }, { 'idempotency-key': 'one' })
    const done = await merchant.post(
      url,
      { customer_ref, confirm: asked.body.confirm },
      { 'idempotency-key': 'two' },
    )
    assert.equal(done.status, 200, done.text)
    await makeDue(campaign)
    assert.equal((await app.sendAll()).length, 1)
    const rows = await recipientsOf(merchant, campaign.id, 'skipped')
    assert.deepEqual(
      rows.map(({ email, reason }) => [email, reason]),
      [[null, 'erased']],
    )
    const left = await app.sql(
      `select from campaign_recipients where tenant_ref = $1 and (email = $2 or customer_ref = $3)`,
      [tenant, gone, customer_ref],
    )
    assert.deepEqual(left, [])
    await assertCountsAddUp(app)
  })
})
