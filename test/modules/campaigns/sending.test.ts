import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openCampaigns } from '../../../src/modules/campaigns/open.ts'
import { WAVE } from '../../../src/modules/campaigns/send-waves.ts'
import { createBulkTransport } from '../../../src/platform/bulk-smtp.ts'
import { verifyDkim } from '../../harness/dkim.ts'
import { until } from '../../harness/eventually.ts'
import { startSmtp } from '../../harness/smtp.ts'
import {
  act,
  addReaders,
  answering,
  assertCountsAddUp,
  type CampaignApp,
  countByAddress,
  createCampaign,
  createSegment,
  DOWN,
  drain,
  LETTER,
  makeDue,
  readCampaign,
  recipientsOf,
  SIGNAL,
  shareCampaignApp,
  startMail,
  URL,
} from './setup.ts'

let app: CampaignApp

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

const SIGNED = {
  MAIL_DKIM_DOMAIN: 'fairdock.example',
  MAIL_DKIM_SELECTOR: 'shops',
  MAIL_DKIM_KEY: privateKey,
}

describe('the mails of a campaign', () => {
  const shared = shareCampaignApp({ env: SIGNED })
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

  test('are HTML and text with a link to leave, its headers on one line each and signed', async () => {
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
    const signature = verifyDkim(raw, publicKey)
    assert.ok(signature?.isValid, raw)
    assert.deepEqual([signature.domain, signature.selector], ['fairdock.example', 'shops'])
    for (const name of ['from', 'to', 'subject', 'list-unsubscribe', 'list-unsubscribe-post']) {
      assert.ok(signature.covered.includes(name), name)
    }
    assert.ok(mail.text.includes('/v1/unsubscribe/') && mail.html?.includes('/v1/unsubscribe/'))

    // The link works, and a second campaign does not reach the reader who left.
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

  test('the mails of a campaign of a sandbox go to its owner alone, also at an address with a plus', async () => {
    const { tenant, merchant } = await app.newStore()
    const { status } = await app.operator.put(`/v1/stores/${tenant}/sandbox`, { sandbox: true })
    assert.equal(status, 200)
    const owner = 'owner@readers.example'
    await app.sql('update stores set owner_email = $2 where tenant_ref = $1', [tenant, owner])
    const own = await addReaders(app, tenant, 1, 'owner+test')
    await addReaders(app, tenant, 5, 'stranger')
    await startMail(merchant)
    const sent = await app.sendAll()
    assert.deepEqual(
      sent.map(({ to }) => to),
      [own],
    )
  })

  test('leave out addresses without consent and suppressed ones, and say how many', async () => {
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

  test('check the consent again when each address is claimed', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, WAVE * 4)
    const campaign = await startMail(merchant)
    // Written down, and not sent.
    await drain(app.worker({ transport: DOWN }))
    const [last] = await app.sql<{ email: string }>(
      'select email from campaign_recipients where campaign_id = $1 order by id desc limit 1',
      [campaign.id],
    )
    await makeDue(app, campaign)
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

  test('are withheld from a reader who unsubscribes while a slow mail server keeps the mails waiting', async (t) => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 3)
    const slow = await startSmtp(t, {
      async onRcptTo({ address }, _session, done) {
        await app.sql(
          `update newsletter_subscribers set status = 'unsubscribed', unsubscribed_at = now()
            where tenant_ref = $1 and email <> $2`,
          [tenant, address],
        )
        setTimeout(done, 1_100)
      },
    })
    const campaign = await startMail(merchant)
    const transport = createBulkTransport(slow.url, { connections: 1, idleMs: 200 })
    await drain(app.worker({ transport }))
    assert.equal(slow.received.length, 1)
    const skipped = await recipientsOf(merchant, campaign.id, 'skipped')
    assert.deepEqual(
      skipped.map(({ reason }) => reason),
      ['not_allowed', 'not_allowed'],
    )
    await assertCountsAddUp(app)
  })

  test('can be paused and resumed in the middle, and reach each address once', async () => {
    const { tenant, merchant } = await app.newStore()
    const readers = await addReaders(app, tenant, 300)
    const campaign = await startMail(merchant)
    const got: string[] = []
    let pausing: Promise<unknown> | null = null
    const worker = app.worker({
      transport: answering(async (to) => {
        got.push(to)
        if (got.length === 100) pausing = act(merchant, campaign.id, 'pause')
        // Not answered before the pause is written: on a busy machine all would be sent by then.
        await pausing
        return { state: 'sent' }
      }),
    })
    await drain(worker)
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

  test('go on after an address that no mail can be sent to', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 2)
    await addReaders(app, tenant, 1, 'zo"e')
    const campaign = await startMail(merchant)
    assert.equal((await app.sendAll()).length, 2)
    const failed = await recipientsOf(merchant, campaign.id, 'failed')
    assert.equal(failed.length, 1)
  })

  test('the mails of a campaign to an erased person are not sent, and the others are', async () => {
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
    await makeDue(app, campaign)
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

  test('go to the addresses that are written down already while others still are not', async () => {
    const { tenant, merchant } = await app.newStore()
    const readers = await addReaders(app, tenant, 1_200)
    const campaign = await startMail(merchant)
    const got: string[] = []
    const { members } = openCampaigns(app.runtime)
    let pages = 0
    const worker = app.worker({
      transport: answering((to) => {
        got.push(to)
        return { state: 'sent' }
      }),
      async members(db, ...rest) {
        // No further recipients are written down before the first mails are sent.
        if (++pages === 2) await until('mails are sent', () => got.length > 0)
        return members(db, ...rest)
      },
    })
    await drain(worker)
    assert.deepEqual(got.toSorted(), readers, 'each address once')
    const { status, mailing } = await readCampaign(merchant, campaign.id)
    assert.deepEqual(
      [status, mailing.recipients_count, mailing.sent_count],
      ['ended', 1_200, 1_200],
    )
    assert.equal(pages, 3)
    await assertCountsAddUp(app)
  })

  test("are all written down even if the store's sending limit is reached before", async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1_200)
    const campaign = await startMail(merchant)
    const sent = await app.sendAll(app.worker({ perMinute: 2 * WAVE }))
    assert.ok(sent.length <= 2 * WAVE, `${sent.length} were sent`)
    const { status, mailing } = await readCampaign(merchant, campaign.id)
    assert.deepEqual(
      [status, mailing.state, mailing.recipients_count],
      ['active', 'sending', 1_200],
    )
  })

  test("never exceed the store's limit for a minute", async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 100)
    const campaign = await startMail(merchant)
    const sent = await app.sendAll(app.worker({ perMinute: 2 * WAVE }))
    assert.ok(sent.length > 0 && sent.length <= 2 * WAVE, `${sent.length} were sent`)
    assert.equal((await readCampaign(merchant, campaign.id)).status, 'active')
    await makeDue(app, campaign)
    assert.equal((await app.sendAll()).length, 100 - sent.length)
  })

  test('the mails of a campaign of one store do not hold up those of another', async () => {
    const [big, small] = [await app.newStore(), await app.newStore()]
    await addReaders(app, big.tenant, 2_000, 'big')
    await addReaders(app, small.tenant, 3, 'small')
    await startMail(big.merchant)
    const got: string[] = []
    const bothAreDue = Promise.withResolvers<void>()
    const worker = app.worker({
      transport: answering(async (to) => {
        // However long it takes to start the other one, most of this one is still to be sent then.
        if (got.length >= 50) await bothAreDue.promise
        await sleep(2)
        got.push(to)
        return { state: 'sent' }
      }),
    })
    await worker.step(SIGNAL)
    while (got.length < 50) await sleep(5)
    await startMail(small.merchant)
    bothAreDue.resolve()
    const isDone = () => got.filter((to) => to.startsWith('small')).length === 3
    for (let steps = 0; !isDone() && steps < 1_000; steps++) {
      await worker.step(SIGNAL)
      await sleep(5)
    }
    assert.ok(isDone())
    assert.ok(got.length < 1_500, `${got.length} of the other store came first`)
    await drain(worker)
  })
})
