import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import { openCampaigns } from '../../../src/modules/campaigns/open.ts'
import { until } from '../../harness/eventually.ts'
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
  makeDue,
  readCampaign,
  removeSegment,
  shareCampaignApp,
  startMail,
  URL,
} from './setup.ts'

let app: CampaignApp

describe('the mails of a campaign, where it must not go on by itself,', () => {
  const shared = shareCampaignApp()
  before(() => {
    app = shared.current
  })

  test('campaign mails that are more than an hour late are not sent until the merchant resumes the campaign', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    await app.sql(`update stores set owner_email = 'owner@shop.example' where tenant_ref = $1`, [
      tenant,
    ])
    const segment_id = await createSegment(merchant)
    const { id } = await createCampaign(merchant, { ...LETTER, segment_id })
    const send_at = new Date(Date.now() + HOUR_MS).toISOString()
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

  test('campaign mails that are a little late are sent', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    const segment_id = await createSegment(merchant)
    const { id } = await createCampaign(merchant, { ...LETTER, segment_id })
    await act(merchant, id, 'schedule', { send_at: new Date(Date.now() + HOUR_MS).toISOString() })
    await app.sql(
      `update campaigns set starts_at = now() - interval '59 minutes', due_at = now() - interval '59 minutes'
        where id = $1`,
      [id],
    )
    await app.moveDue()
    assert.equal((await app.sendAll()).length, 1)
  })

  test('are scanned for health claims again when they are sent, and a finding pauses the campaign', async () => {
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

  test('stop if the segment is deleted, and the campaign is paused', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    const campaign = await startMail(merchant)
    assert.equal((await removeSegment(merchant, campaign.segment_id)).status, 200)
    assert.deepEqual(await app.sendAll(), [])
    const stopped = await readCampaign(merchant, campaign.id)
    assert.deepEqual([stopped.status, stopped.pause_reason], ['paused', 'segment'])
  })

  test('keep the text, subject and segment that they need while they are scheduled', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    const segment_id = await createSegment(merchant)
    const { id } = await createCampaign(merchant, { ...LETTER, segment_id })
    await act(merchant, id, 'schedule', { send_at: new Date(Date.now() + HOUR_MS).toISOString() })
    const nothing = { segment_id: null, subject: null, body_markdown: null }
    const refused = await merchant.patch(`${URL}/${id}`, nothing)
    assert.equal(refused.status, 400, refused.text)
    const paths = refused.body.issues.map(({ path }: { path: string }) => path)
    assert.deepEqual(paths, ['segment_id', 'subject', 'body_markdown'])
    const changed = await merchant.patch(`${URL}/${id}`, { subject: 'Another one' })
    assert.equal(changed.status, 200, changed.text)
  })

  test('keep their segment, whatever is removed while they are scheduled', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    const segment_id = await createSegment(merchant)
    const send_at = new Date(Date.now() + HOUR_MS).toISOString()
    for (let n = 0; n < 8; n++) {
      const { id } = await createCampaign(merchant, { ...LETTER, segment_id })
      await Promise.all([
        merchant.post(`${URL}/${id}/schedule`, { send_at }),
        merchant.patch(`${URL}/${id}`, { subject: null }),
      ])
      const { status, subject } = await readCampaign(merchant, id)
      assert.ok(status === 'draft' || subject !== null, `${status} without a subject`)
    }
  })

  test('are the only reason to need a segment: a campaign of another channel can be changed freely', async () => {
    const { merchant } = await app.newStore()
    const starts_at = new Date(Date.now() + HOUR_MS).toISOString()
    const { id } = await createCampaign(merchant, { name: 'Social', channel: 'social', starts_at })
    await act(merchant, id, 'schedule', {})
    assert.equal((await readCampaign(merchant, id)).status, 'scheduled')
    const whole = { name: 'Renamed', segment_id: null, subject: null, body_markdown: null }
    const changed = await merchant.patch(`${URL}/${id}`, whole)
    assert.equal(changed.status, 200, changed.text)
  })

  test('stop if the campaign has lost its segment, and it is paused', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    const { id } = await startMail(merchant)
    await app.sql('update campaigns set segment_id = null where id = $1', [id])
    assert.deepEqual(await app.sendAll(), [])
    const stopped = await readCampaign(merchant, id)
    assert.deepEqual([stopped.status, stopped.pause_reason], ['paused', 'segment'])
  })

  test('are not written down in part if the campaign is paused meanwhile', async () => {
    const { tenant, merchant } = await app.newStore()
    const readers = await addReaders(app, tenant, 3)
    const campaign = await startMail(merchant)
    const { members } = openCampaigns(app.runtime)
    let pausing: Promise<unknown> | undefined
    let pages = 0
    const worker = app.worker({
      async members(db, ...rest) {
        pages += 1
        const page = await members(db, ...rest)
        pausing ??= act(merchant, campaign.id, 'pause')
        // The pause has the campaign now, and commits before the recipients are written.
        await until(
          'it is paused',
          async () => (await readCampaign(merchant, campaign.id)).status === 'paused',
        )
        return page
      },
    })
    await drain(worker)
    await pausing
    assert.equal(pages, 1, 'neither waits for the other in a circle')
    const paused = await readCampaign(merchant, campaign.id)
    assert.deepEqual(
      [paused.status, paused.mailing.state, paused.mailing.recipients_count],
      ['paused', 'listing', 0],
    )
    await assertCountsAddUp(app)
    await act(merchant, campaign.id, 'resume')
    assert.deepEqual([...countByAddress(await app.sendAll()).keys()].sort(), readers)
  })

  test('are paused while some are claimed, and no deadlock arises', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 3)
    const campaign = await startMail(merchant)
    const { mayBeMailed } = openCampaigns(app.runtime)
    let pausing: ReturnType<typeof act> | undefined
    let calls = 0
    const worker = app.worker({
      async mayBeMailed(db, emails) {
        if (db.tenant === tenant) calls += 1
        // The second call is within the claim, which has the mailing. The pause has the campaign then.
        if (calls === 2 && pausing === undefined) {
          pausing = act(merchant, campaign.id, 'pause')
          await until('the pause waits for the mailing', async () => {
            const waiting = await app.sql(
              `select pid from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'`,
            )
            return waiting.length > 0
          })
        }
        return mayBeMailed(db, emails)
      },
    })
    await drain(worker)
    assert.equal((await pausing)?.status, 'paused')
    await assertCountsAddUp(app)
  })

  test('campaign mails of a suspended store wait until it is live again', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    const campaign = await startMail(merchant)
    await app.sql(`update stores set status = 'suspended' where tenant_ref = $1`, [tenant])
    assert.deepEqual(await app.sendAll(), [])
    await app.sql(`update stores set status = 'live' where tenant_ref = $1`, [tenant])
    await makeDue(app, campaign)
    assert.equal((await app.sendAll()).length, 1)
  })

  test('campaign mails that were all sent when the campaign was paused leave nothing to resume', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    const { id } = await startMail(merchant)
    assert.equal((await app.sendAll()).length, 1)
    // As a pause leaves it that came between the last mail and the end.
    await app.sql(
      `update campaigns set status = 'paused', pause_reason = 'merchant' where id = $1`,
      [id],
    )
    assert.equal((await act(merchant, id, 'resume')).status, 'ended')
    assert.deepEqual(await app.sendAll(), [])
  })
})
