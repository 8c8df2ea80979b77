import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openCampaignSending } from '../../../src/modules/campaigns/open.ts'
import { WAVE, WAVES } from '../../../src/modules/campaigns/send-waves.ts'
import { createBulkTransport } from '../../../src/platform/bulk-smtp.ts'
import { until } from '../../harness/eventually.ts'
import { startSmtp } from '../../harness/smtp.ts'
import {
  act,
  addReaders,
  answering,
  assertCountsAddUp,
  type CampaignApp,
  countByAddress,
  drain,
  endLease,
  readCampaign,
  SIGNAL,
  shareCampaignApp,
  startMail,
} from './setup.ts'

let app: CampaignApp

describe('the mails of a campaign, whatever becomes of its workers,', () => {
  const shared = shareCampaignApp()
  before(() => {
    app = shared.current
  })

  test('campaign mails that a killed worker had claimed are unknown, and all others are sent once', async () => {
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
    await endLease(app, campaign)
    await drain(living)
    assert.deepEqual(got.toSorted(), readers, 'each address once')
    const { mailing } = await readCampaign(merchant, campaign.id)
    assert.deepEqual([mailing.unknown_count, mailing.sent_count], [claimed, 200 - claimed])
    await assertCountsAddUp(app)
  })

  test('campaign mails that a killed worker had claimed are unknown also where the campaign is cancelled', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 200)
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
    await act(merchant, campaign.id, 'cancel')
    const living = app.worker({ transport })
    await drain(living)
    const { mailing: before } = await readCampaign(merchant, campaign.id)
    assert.equal(before.unknown_count, 0, 'its lease says that it may still be at work')
    await endLease(app, campaign)
    await drain(living)
    const { status, mailing } = await readCampaign(merchant, campaign.id)
    assert.deepEqual(
      [status, mailing.unknown_count, mailing.queued_count, got.length],
      ['cancelled', claimed, 200 - claimed, claimed],
    )
    assert.equal(await living.step(SIGNAL), 0, 'nothing of it is due any more')
    await assertCountsAddUp(app)
  })

  test('keep the results of a wave when the next wave cannot be claimed', async () => {
    const { tenant, merchant } = await app.newStore()
    const readers = await addReaders(app, tenant, 200)
    const campaign = await startMail(merchant)
    const got: string[] = []
    const transport = answering((to) => {
      got.push(to)
      return { state: 'sent' }
    })
    const { mayBeMailed } = openCampaignSending(app.runtime, transport)
    let calls = 0
    const failing = app.worker({
      transport,
      // So few that the waves do not grow.
      perMinute: 20 * WAVE,
      async mayBeMailed(db, emails) {
        // For the segment, for the first waves, and then no more.
        if (++calls > 1 + WAVES) throw new Error('the database is gone')
        return mayBeMailed(db, emails)
      },
    })
    await failing.step(SIGNAL)
    await assert.rejects(failing.drain(), /is gone/)
    assert.equal(got.length, WAVES * WAVE)
    const { mailing } = await readCampaign(merchant, campaign.id)
    assert.deepEqual([mailing.sent_count, mailing.unknown_count], [got.length, 0])
    await endLease(app, campaign)
    await drain(app.worker({ transport }))
    assert.deepEqual(got.toSorted(), readers, 'each address once')
    assert.equal((await readCampaign(merchant, campaign.id)).mailing.unknown_count, 0)
    await assertCountsAddUp(app)
  })

  test('keep the result of an overtaken worker: it knows what it has sent', async () => {
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

  test('campaign mails that wait for a connection when the process stops are left to the next one', async (t) => {
    const { tenant, merchant } = await app.newStore()
    const readers = await addReaders(app, tenant, 10)
    const campaign = await startMail(merchant)
    const slow = await startSmtp(t, {
      onRcptTo: (_to, _session, done) => void setTimeout(done, 50),
    })
    const transport = createBulkTransport(slow.url, { connections: 1, idleMs: 200 })
    const stopping = new AbortController()
    const worker = app.worker({ transport })
    await worker.step(stopping.signal)
    await until('it sends', () => slow.received.length > 0)
    stopping.abort()
    await worker.drain()
    assert.ok(slow.received.length < 10, `${slow.received.length} of 10 were sent`)
    const { mailing } = await readCampaign(merchant, campaign.id)
    assert.deepEqual(
      [mailing.sent_count, mailing.unknown_count, mailing.skipped_count],
      [slow.received.length, 0, 0],
    )
    await drain(app.worker({ transport }))
    assert.deepEqual([...countByAddress(slow.received).keys()].sort(), readers)
    assert.equal(slow.received.length, 10, 'each once')
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
})
