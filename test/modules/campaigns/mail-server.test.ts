import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { RETRY_SECONDS } from '../../../src/modules/campaigns/send-waves.ts'
import { mayBeMailed } from '../../../src/modules/marketing/consent.ts'
import { createBulkTransport } from '../../../src/platform/bulk-smtp.ts'
import { startSmtp } from '../../harness/smtp.ts'
import {
  addReaders,
  answering,
  assertCountsAddUp,
  type CampaignApp,
  drain,
  makeDue,
  readCampaign,
  recipientsOf,
  shareCampaignApp,
  startMail,
} from './setup.ts'

let app: CampaignApp

const SUPPRESSIONS = '/v1/merchant/marketing/suppressions'

describe('the mails of a campaign, by what the mail server says,', () => {
  const shared = shareCampaignApp()
  before(() => {
    app = shared.current
  })

  test('are tried again by a ladder when a server defers them, and then given up', async () => {
    const { tenant, merchant } = await app.newStore()
    await addReaders(app, tenant, 1)
    const campaign = await startMail(merchant)
    const worker = app.worker({
      transport: answering((to) => ({
        state: 'deferred',
        error: `450 4.2.2 <${to.toUpperCase()}> is full`,
        isOfReader: true,
      })),
    })
    for (const [index, seconds] of RETRY_SECONDS.entries()) {
      await drain(worker)
      const [row] = await recipientsOf(merchant, campaign.id)
      assert.deepEqual([row?.state, row?.attempt_count], ['queued', index + 1])
      const wait = (Date.parse(row?.next_attempt_at ?? '') - Date.now()) / 1_000
      assert.ok(wait > seconds - 60 && wait <= seconds, `${wait} s`)
      await makeDue(app, campaign)
    }
    await drain(worker)
    const [row] = await recipientsOf(merchant, campaign.id)
    assert.deepEqual([row?.state, row?.reason], ['failed', 'refused'])
    const [{ last_error } = { last_error: '' }] = await app.sql<{ last_error: string }>(
      'select last_error from campaign_recipients where campaign_id = $1',
      [campaign.id],
    )
    assert.equal(last_error, '450 4.2.2 <[address]> is full', 'without the address')
    const counted = await app.sql(
      'select reason, soft_bounces, suppressed_at from mail_suppressions where tenant_ref = $1',
      [tenant],
    )
    assert.deepEqual(counted, [{ reason: 'soft_bounces', soft_bounces: 1, suppressed_at: null }])
    assert.equal((await readCampaign(merchant, campaign.id)).status, 'ended')
  })

  test('spend no attempt while the mail server accepts no mail at all', async () => {
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
    await makeDue(app, campaign)
    const sent = await app.sendAll()
    assert.equal(sent.length, 70)
    const rows = await recipientsOf(merchant, campaign.id)
    assert.ok(rows.every(({ attempt_count }) => attempt_count === 1))
  })

  test('campaign mails that may or may not have been sent are unknown, and never sent again', async () => {
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

  test("campaign mails that a server refuses for their address suppress it, as the provider's report would", async (t) => {
    const { tenant, merchant } = await app.newStore()
    const readers = await addReaders(app, tenant, 4, 'bounce')
    const [gone = '', blocked = '', unclear = '', good = ''] = readers
    const replies = new Map([
      [gone, `5.1.1 <${gone.toUpperCase()}> unknown, id 4111 1111 1111 1111`],
      [blocked, '5.7.1 your network is blocked'],
      [unclear, 'mailbox unavailable'],
    ])
    const strict = await startSmtp(t, {
      hideENHANCEDSTATUSCODES: true,
      onRcptTo({ address }, _session, done) {
        const reply = replies.get(address)
        if (reply === undefined) done()
        else done(Object.assign(new Error(reply), { responseCode: 550 }))
      },
    })
    const transport = createBulkTransport(strict.url, { connections: 1, idleMs: 200 })
    const worker = app.worker({ transport })
    const campaign = await startMail(merchant)
    await drain(worker)
    assert.deepEqual(
      strict.received.map(({ to }) => to),
      [[good]],
      'the others do not stop it',
    )
    const failed = await recipientsOf(merchant, campaign.id, 'failed')
    assert.deepEqual(failed.map(({ email }) => email).sort(), [gone, blocked, unclear])
    const { suppressions } = (await merchant.get(SUPPRESSIONS)).body
    assert.deepEqual(
      suppressions.map((row: Record<string, string>) => [
        row.email,
        row.reason,
        row.created_by,
        row.detail,
      ]),
      [[gone, 'hard_bounce', 'mail_server', '550 5.1.1 <[address]> unknown, id [number]']],
    )
    const other = await app.newStore()
    assert.deepEqual(
      await mailableOf(other.tenant, [gone, blocked, unclear, good]),
      [blocked, unclear, good],
      'an address that does not exist exists for no store',
    )
    await assertCountsAddUp(app)

    for (let n = 2; n <= 5; n++) {
      await startMail(merchant)
      await drain(worker)
    }
    const last = await startMail(merchant)
    await drain(worker)
    const { mailing } = await readCampaign(merchant, last.id)
    assert.deepEqual(
      [mailing.recipients_count, mailing.left_out_count],
      [2, 2],
      'five soft bounces suppress, a policy of the server does not',
    )
  })

  /** Of some addresses those that a store may mail, if they are its readers. */
  async function mailableOf(tenant: string, emails: readonly string[]): Promise<string[]> {
    await app.sql(
      `insert into newsletter_subscribers (tenant_ref, email, email_folded, status, confirmed_at)
       select $1, email, email, 'subscribed', now() from unnest($2::text[]) as email`,
      [tenant, emails],
    )
    return [...(await mayBeMailed(await app.store(tenant), emails))]
  }
})
