import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import type { Caller } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { times } from '../../harness/refusals.ts'
import {
  act,
  addReaders,
  answering,
  assertCountsAddUp,
  type CampaignApp,
  createCampaign,
  drain,
  LETTER,
  readCampaign,
  SIGNAL,
  shareCampaignApp,
  startMail,
  URL,
} from './setup.ts'

let app: CampaignApp

const at = (ms: number) => new Date(Date.now() + ms).toISOString()

const resend = (merchant: Caller, id: string, key: string = randomUUID()) =>
  merchant.post(`${URL}/${id}/resend-unknown`, undefined, { 'idempotency-key': key })

const withdraw = async (merchant: Caller, email: string) => {
  const left = await merchant.post('/v1/merchant/marketing/consents/withdraw', { email })
  assert.equal(left.status, 200, left.text)
}

/** Sends a campaign whose mails to some addresses get lost on their way. */
async function sendWithLoss(merchant: Caller, lost: readonly string[], more: object = {}) {
  const { id } = await startMail(merchant, more)
  const transport = answering((to) =>
    lost.includes(to) ? { state: 'unknown', error: 'the connection has ended' } : { state: 'sent' },
  )
  await drain(app.worker({ transport }))
  return readCampaign(merchant, id)
}

describe('mails that may or may not have been sent', () => {
  const shared = shareCampaignApp()
  before(() => {
    app = shared.current
  })

  test('are sent again when the merchant asks for it, once for each key', async () => {
    const { tenant, merchant } = await app.newStore()
    const readers = await addReaders(app, tenant, 5)
    const [lost = '', left = '', gone = ''] = readers
    const campaign = await sendWithLoss(merchant, [lost, left, gone])
    assert.deepEqual([campaign.status, campaign.mailing.unknown_count], ['ended', 3])
    await withdraw(merchant, left)
    await app.sql(
      `update campaign_recipients set email = null, email_folded = null where tenant_ref = $1 and email = $2`,
      [tenant, gone],
    )
    const key = randomUUID()
    const answers = await times(3, () => resend(merchant, campaign.id, key))
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1, 'all get the same answer')
    const [first = assert.fail()] = answers
    const { resent, campaign: active } = first.body
    assert.deepEqual(
      [first.status, resent, active.status, active.mailing.unknown_count],
      [200, 2, 'active', 1],
      'who was erased is not known any more',
    )
    assert.equal(active.mailing.state, 'sending')
    const sent = await app.sendAll()
    assert.deepEqual(
      sent.map(({ to }) => to),
      [[lost]],
      'who has left gets none',
    )
    const { status, mailing } = await readCampaign(merchant, campaign.id)
    assert.deepEqual(
      [status, mailing.state, mailing.sent_count, mailing.skipped_count, mailing.unknown_count],
      ['ended', 'done', 3, 1, 1],
    )
    await assertCountsAddUp(app)
    const [entry] = await app.sql<{ after: { resent: number } }>(
      `select after from audit_log where tenant_ref = $1 and action = 'campaign.resent'`,
      [tenant],
    )
    assert.equal(entry?.after.resent, 2)
    const again = await resend(merchant, campaign.id)
    assert.deepEqual([again.body.resent, again.body.campaign.status], [0, 'ended'])
  })

  test('mails of a paused campaign that may or may not have been sent wait until it goes on', async () => {
    const { tenant, merchant } = await app.newStore()
    const [lost = ''] = await addReaders(app, tenant, 2)
    const { id } = await sendWithLoss(merchant, [lost], { ends_at: at(HOUR_MS) })
    await act(merchant, id, 'pause')
    const { body } = await resend(merchant, id)
    assert.deepEqual([body.resent, body.campaign.status], [1, 'paused'])
    assert.deepEqual(await app.sendAll(), [])
    await act(merchant, id, 'resume')
    assert.equal((await app.sendAll()).length, 1)
    await assertCountsAddUp(app)
  })

  test('keep the result of a worker that was slow but not dead', async () => {
    const { tenant, merchant } = await app.newStore()
    const [reader = ''] = await addReaders(app, tenant, 1)
    const campaign = await startMail(merchant)
    const held = Promise.withResolvers<void>()
    const began = Promise.withResolvers<void>()
    const slow = app.worker({
      transport: answering(() => ({ state: 'sent' })),
      onAnswered: () => {
        began.resolve()
        return held.promise
      },
    })
    await slow.step(SIGNAL)
    await began.promise
    await app.sql(
      'update campaign_mailings set lease_until = now(), lease_token = gen_random_uuid() where id = $1',
      [campaign.id],
    )
    await until('it is given up', async () => {
      await drain(app.worker())
      return (await readCampaign(merchant, campaign.id)).mailing.unknown_count === 1
    })
    assert.equal((await resend(merchant, campaign.id)).body.resent, 1)
    held.resolve()
    await slow.drain()
    const before = app.received.length
    await app.sendAll()
    assert.deepEqual(app.received.slice(before), [], `${reader} has got it`)
    assert.equal((await readCampaign(merchant, campaign.id)).mailing.sent_count, 1)
    await assertCountsAddUp(app)
  })

  test('are refused while no mail may be sent', async () => {
    const { tenant, merchant } = await app.newStore()
    const [lost = ''] = await addReaders(app, tenant, 1)
    const social = await createCampaign(merchant)
    const draft = await createCampaign(merchant, LETTER)
    const cancelled = await sendWithLoss(merchant, [lost], { ends_at: at(HOUR_MS) })
    await act(merchant, cancelled.id, 'cancel')
    const over = await sendWithLoss(merchant, [lost], { ends_at: at(HOUR_MS) })
    await app.sql(
      `update campaigns set starts_at = now() - interval '2 hours', ends_at = now() where id = $1`,
      [over.id],
    )
    const claiming = await sendWithLoss(merchant, [lost])
    await app.sql(`update campaigns set body_markdown = 'It cures cancer.' where id = $1`, [
      claiming.id,
    ])
    const other = await app.newStore()
    const lesser = await app.merchant(tenant, 'read:own_orders')
    for (const [caller, id, status, code] of [
      [merchant, social.id, 409, 'not_a_mail_campaign'],
      [merchant, draft.id, 409, 'invalid_transition'],
      [merchant, cancelled.id, 409, 'invalid_transition'],
      [merchant, over.id, 409, 'invalid_transition'],
      [merchant, claiming.id, 422, 'ruo_claims_violation'],
      [merchant, 'no-id', 404, 'campaign_not_found'],
      [other.merchant, claiming.id, 404, 'campaign_not_found'],
      [lesser, claiming.id, 403, 'forbidden'],
    ] as const) {
      const answer = await resend(caller, id)
      assert.deepEqual([answer.status, answer.body.error.code], [status, code], id)
    }
    const keyless = await merchant.post(`${URL}/${claiming.id}/resend-unknown`)
    assert.equal(keyless.body.error.code, 'idempotency_key_required')
    assert.equal((await readCampaign(merchant, claiming.id)).mailing.unknown_count, 1)
  })
})
