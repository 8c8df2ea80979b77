import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import type { Caller } from '../../harness/app.ts'
import { assertRefused } from '../../harness/refusals.ts'
import {
  act,
  type CampaignApp,
  createCampaign,
  createSegment,
  LETTER,
  readCampaign,
  shareCampaignApp,
  URL,
} from './setup.ts'

let app: CampaignApp
let merchant: Caller
let tenant: string

const at = (ms: number) => new Date(Date.now() + ms).toISOString()
const NOBODY = '00000000-0000-4000-8000-000000000000'

describe('campaigns', () => {
  const shared = shareCampaignApp()
  before(async () => {
    app = shared.current
    const store = await app.newStore()
    merchant = store.merchant
    tenant = store.tenant
  })

  test('are created as drafts with every member that was sent', async () => {
    const starts_at = at(HOUR_MS)
    const campaign = await createCampaign(merchant, {
      starts_at,
      ends_at: at(2 * HOUR_MS),
      budget: { type: 'spend', limit: 50_000 },
      utm: { source: 'instagram', campaign: 'may' },
    })
    assert.deepEqual(
      [campaign.name, campaign.channel, campaign.status, campaign.starts_at, campaign.send_at],
      ['May', 'social', 'draft', starts_at, null],
    )
    assert.deepEqual(campaign.budget, { type: 'spend', limit: 50_000, used: 0 })
    assert.deepEqual(campaign.utm, { source: 'instagram', medium: null, campaign: 'may' })
    assert.deepEqual([campaign.coupon_count, campaign.mailing], [0, null])
    assert.deepEqual(await readCampaign(merchant, campaign.id), campaign)
  })

  test('campaigns of the channel email have a text, a segment and a time to send', async () => {
    const segment_id = await createSegment(merchant)
    const send_at = at(HOUR_MS)
    const campaign = await createCampaign(merchant, {
      ...LETTER,
      segment_id,
      send_at,
      sender_name: 'Ann of the shop',
      reply_to: 'ann@shop.example',
    })
    assert.deepEqual(
      [campaign.segment_id, campaign.subject, campaign.send_at, campaign.starts_at],
      [segment_id, LETTER.subject, send_at, send_at],
    )
    assert.deepEqual(
      [campaign.sender_name, campaign.reply_to],
      ['Ann of the shop', 'ann@shop.example'],
    )
  })

  test('refuse bad input, and name the member', async () => {
    const mail = { name: 'May', ...LETTER }
    const social = { name: 'May', channel: 'social' }
    await assertRefused(
      [
        ['no name', { channel: 'social' }, 'invalid_body', 'name'],
        ['no channel', { name: 'May' }, 'invalid_body', 'channel'],
        ['a channel with spaces', { name: 'May', channel: 'the web' }, 'invalid_body', 'channel'],
        ['a text without mails', { ...social, subject: 'Hello' }, 'invalid_body', 'subject'],
        ['a time to send without mails', { ...social, send_at: at(1) }, 'invalid_body', 'send_at'],
        [
          'an end before the start',
          { ...social, starts_at: at(HOUR_MS), ends_at: at(1) },
          'invalid_body',
          'ends_at',
        ],
        [
          'two times to start',
          { ...mail, starts_at: at(HOUR_MS), send_at: at(2 * HOUR_MS) },
          'invalid_body',
          'send_at',
        ],
        ['a budget of nothing', { ...social, budget: { type: 'uses', limit: 0 } }, 'invalid_body'],
        ['a subject of two lines', { ...mail, subject: 'One\nTwo' }, 'invalid_body', 'subject'],
        ['an answer to nobody', { ...mail, reply_to: 'nobody' }, 'invalid_body', 'reply_to'],
        ['no id of a segment', { ...mail, segment_id: 'x' }, 'invalid_body', 'segment_id'],
        ['a segment that does not exist', { ...mail, segment_id: NOBODY }, 'segment_not_found'],
        [
          'a text that is too long',
          { ...mail, body_markdown: 'x'.repeat(16_001) },
          'invalid_body',
          'body_markdown',
        ],
      ],
      (body) => merchant.post(URL, body),
    )
  })

  test('cannot be mailed to the segment of another store', async () => {
    const other = await app.newStore()
    const segment_id = await createSegment(other.merchant)
    const answer = await merchant.post(URL, { name: 'May', ...LETTER, segment_id })
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'segment_not_found'])
  })

  test('are listed newest first, by status and by channel', async () => {
    const store = await app.newStore()
    const first = await createCampaign(store.merchant)
    const second = await createCampaign(store.merchant, { channel: 'print' })
    await act(store.merchant, second.id, 'schedule', {})
    const idsOf = async (query: string) =>
      (await store.merchant.get(`${URL}?${query}`)).body.campaigns.map(
        ({ id }: { id: string }) => id,
      )
    assert.deepEqual(await idsOf(''), [second.id, first.id])
    assert.deepEqual(await idsOf('status=active'), [second.id])
    assert.deepEqual(await idsOf('channel=social'), [first.id])
    assert.deepEqual(await idsOf('channel=social&status=active'), [])
  })

  test('start now without a time, and at their time with one', async () => {
    const now = await createCampaign(merchant)
    const started = await act(merchant, now.id, 'schedule', {})
    assert.equal(started.status, 'active')
    assert.ok(Math.abs(Date.parse(started.starts_at) - Date.now()) < 60_000)

    const later = await createCampaign(merchant)
    const starts_at = at(HOUR_MS)
    assert.equal((await act(merchant, later.id, 'schedule', { starts_at })).status, 'scheduled')
    const again = await act(merchant, later.id, 'schedule', { starts_at: at(2 * HOUR_MS) })
    assert.equal(again.status, 'scheduled', 'another time')
    assert.equal(await app.moveDue(), 0)
    await makeDue(later.id, '1 minute')
    await app.moveDue()
    assert.equal((await readCampaign(merchant, later.id)).status, 'active')
  })

  /** Lets time pass: the campaign should have started so long ago. */
  const makeDue = (id: string, ago: string) =>
    app.sql(
      `update campaigns set starts_at = now() - $2::interval, due_at = now() - $2::interval
        where id = $1`,
      [id, ago],
    )

  test('end at their time', async () => {
    const { id } = await createCampaign(merchant, { ends_at: at(HOUR_MS) })
    await act(merchant, id, 'schedule', {})
    await app.sql(
      `update campaigns set starts_at = now() - interval '2 hours', ends_at = now(), due_at = now()
        where id = $1`,
      [id],
    )
    await app.moveDue()
    assert.equal((await readCampaign(merchant, id)).status, 'ended')
    const refused = await merchant.post(`${URL}/${id}/pause`)
    assert.deepEqual(
      [refused.status, refused.body.error.code, refused.body.current_status, refused.body.allowed],
      [409, 'invalid_transition', 'ended', []],
    )
    const changed = await merchant.patch(`${URL}/${id}`, { name: 'June' })
    assert.equal(changed.body.error.code, 'invalid_transition')
  })

  test('do not start in the past, nor after their end', async () => {
    const { id } = await createCampaign(merchant)
    await assertRefused(
      [
        ['hours ago', { starts_at: at(-2 * HOUR_MS) }, 'invalid_body', 'starts_at'],
        ['after the end', { starts_at: at(HOUR_MS), ends_at: at(1) }, 'invalid_body', 'ends_at'],
        ['over already', { ends_at: at(-HOUR_MS) }, 'invalid_body', 'ends_at'],
        ['a time to send without mails', { send_at: at(HOUR_MS) }, 'invalid_body', 'send_at'],
      ],
      (body) => merchant.post(`${URL}/${id}/schedule`, body),
    )
    assert.equal((await readCampaign(merchant, id)).status, 'draft')
  })

  test('pause, go on, and end for good; a repeated call is harmless', async () => {
    const { id } = await createCampaign(merchant)
    const early = await merchant.post(`${URL}/${id}/pause`)
    assert.deepEqual([early.status, early.body.allowed], [409, ['schedule', 'cancel']])
    await act(merchant, id, 'schedule', {})
    for (const _ of [1, 2]) {
      const paused = await act(merchant, id, 'pause')
      assert.deepEqual([paused.status, paused.pause_reason], ['paused', 'merchant'])
    }
    for (const _ of [1, 2]) {
      const resumed = await act(merchant, id, 'resume')
      assert.deepEqual([resumed.status, resumed.pause_reason], ['active', null])
    }
    for (const _ of [1, 2]) assert.equal((await act(merchant, id, 'cancel')).status, 'cancelled')
    const refused = await merchant.post(`${URL}/${id}/resume`)
    assert.deepEqual([refused.status, refused.body.allowed], [409, []])
    const again = await merchant.post(`${URL}/${id}/schedule`, {})
    assert.equal(again.body.error.code, 'invalid_transition')
  })

  test('campaigns that are paused before their time wait for it when they go on', async () => {
    const { id } = await createCampaign(merchant)
    await act(merchant, id, 'schedule', { starts_at: at(HOUR_MS) })
    await act(merchant, id, 'pause')
    assert.equal((await act(merchant, id, 'resume')).status, 'scheduled')
  })

  test('can change their name, end and budget while they run, and not their start or text', async () => {
    const segment_id = await createSegment(merchant)
    const { id } = await createCampaign(merchant, { ...LETTER, segment_id })
    await act(merchant, id, 'schedule', {})
    const ends_at = at(HOUR_MS)
    const patch = { name: 'June', ends_at, budget: { type: 'uses', limit: 5 }, utm: null }
    const changed = await merchant.patch(`${URL}/${id}`, patch)
    assert.equal(changed.status, 200, changed.text)
    assert.deepEqual([changed.body.campaign.name, changed.body.campaign.ends_at], ['June', ends_at])
    await assertRefused(
      [
        ['a start', { starts_at: at(1) }, 'invalid_body', 'starts_at'],
        ['a text', { subject: 'Other' }, 'invalid_body', 'subject'],
        ['a segment', { segment_id }, 'invalid_body', 'segment_id'],
      ],
      (body) => merchant.patch(`${URL}/${id}`, body),
    )
    await act(merchant, id, 'pause')
    const fixed = await merchant.patch(`${URL}/${id}`, { subject: 'Other' })
    assert.equal(fixed.body.campaign?.subject, 'Other', fixed.text)
  })

  test('can be deleted as drafts alone', async () => {
    const { id } = await createCampaign(merchant)
    assert.equal((await merchant.send('DELETE', `${URL}/${id}`)).status, 200)
    assert.equal((await merchant.get(`${URL}/${id}`)).status, 404)
    const started = await createCampaign(merchant)
    await act(merchant, started.id, 'schedule', {})
    const refused = await merchant.send('DELETE', `${URL}/${started.id}`)
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'invalid_transition'])
  })

  test('need a text, a subject and a segment before they are sent', async () => {
    const { id } = await createCampaign(merchant, { channel: 'email' })
    const refused = await merchant.post(`${URL}/${id}/schedule`, {})
    assert.deepEqual(
      refused.body.issues?.map(({ path }: { path: string }) => path),
      ['subject', 'body_markdown'],
    )
    await merchant.patch(`${URL}/${id}`, { ...LETTER, channel: undefined })
    const still = await merchant.post(`${URL}/${id}/schedule`, {})
    assert.equal(still.body.issues?.[0]?.path, 'segment_id', still.text)
  })

  test('campaigns with a prohibited claim are neither sent nor tested, however it is written', async () => {
    const segment_id = await createSegment(merchant)
    for (const body_markdown of [
      'Our tea cures cancer.',
      'Our tea cu**res can**cer.',
      'Our tea [cures](https://shop.example) *cancer*.',
    ]) {
      const { id } = await createCampaign(merchant, { ...LETTER, segment_id, body_markdown })
      for (const verb of ['schedule', 'test']) {
        const refused = await merchant.post(
          `${URL}/${id}/${verb}`,
          verb === 'test' ? undefined : {},
        )
        assert.equal(refused.body.error?.code, 'ruo_claims_violation', `${verb} ${body_markdown}`)
        assert.equal(refused.body.findings[0].path, '/body_markdown')
      }
      assert.equal((await readCampaign(merchant, id)).status, 'draft')
    }
    const { id } = await createCampaign(merchant, {
      ...LETTER,
      segment_id,
      subject: 'A tea that cures cancer',
    })
    const refused = await merchant.post(`${URL}/${id}/schedule`, {})
    assert.deepEqual([refused.status, refused.body.findings[0].path], [422, '/subject'])
    const sender_name = 'The tea that cures cancer'
    const named = await createCampaign(merchant, { ...LETTER, segment_id, sender_name })
    const unnamed = await merchant.post(`${URL}/${named.id}/schedule`, {})
    assert.deepEqual([unnamed.status, unnamed.body.findings?.[0]?.path], [422, '/sender_name'])
  })

  test('can be tested by a mail to the owner alone', async () => {
    const { id } = await createCampaign(merchant, LETTER)
    const nobody = await merchant.post(`${URL}/${id}/test`)
    assert.deepEqual([nobody.status, nobody.body.error.code], [409, 'no_owner_address'])
    const email = 'owner@shop.example'
    await app.sql('update stores set owner_email = $2 where tenant_ref = $1', [tenant, email])
    const answer = await merchant.post(`${URL}/${id}/test`)
    assert.deepEqual([answer.status, answer.body], [202, { email }])
    const mails = await app.sql<{ recipient: string; subject: string; body: string; html: string }>(
      'select recipient, subject, body, html from mails where tenant_ref = $1',
      [tenant],
    )
    assert.deepEqual(
      mails.map(({ recipient, subject }) => [recipient, subject]),
      [[email, '[Test] New in May']],
    )
    assert.match(mails[0]?.html ?? '', /<strong>new<\/strong>/)
    assert.match(mails[0]?.body ?? '', /\*\*new\*\*/)
    assert.doesNotMatch(mails[0]?.body ?? '', /\/v1\/unsubscribe\//, 'a test unsubscribes nobody')

    const social = await createCampaign(merchant)
    const refused = await merchant.post(`${URL}/${social.id}/test`)
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'not_a_mail_campaign'])
    const many = await Promise.all(
      Array.from({ length: 12 }, () => merchant.post(`${URL}/${id}/test`)),
    )
    assert.ok(many.some(({ body }) => body.error?.code === 'rate_limited'))
  })

  test('keep one store out of sight of another, and need the scope of marketing', async () => {
    const { id } = await createCampaign(merchant)
    const other = await app.newStore()
    const lesser = await app.merchant(tenant, 'read:own_orders')
    const routes = [
      ['GET', ''],
      ['PATCH', '', {}],
      ['DELETE', ''],
      ['POST', '/schedule', {}],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['POST', '/cancel'],
      ['POST', '/test'],
      ['GET', '/recipients'],
      ['GET', '/performance'],
    ] as const
    for (const [method, path, body] of routes) {
      const hidden = await other.merchant.send(method, `${URL}/${id}${path}`, body)
      assert.deepEqual([hidden.status, hidden.body.error.code], [404, 'campaign_not_found'], path)
      const missing = await merchant.send(method, `${URL}/no-id${path}`, body)
      assert.deepEqual([missing.status, missing.body.error.code], [404, 'campaign_not_found'])
      const refused = await lesser.send(method, `${URL}/${id}${path}`, body)
      assert.deepEqual([refused.status, refused.body.error.code], [403, 'forbidden'], path)
    }
    assert.equal((await readCampaign(merchant, id)).status, 'draft')
  })

  test('write each change into the audit log', async () => {
    const store = await app.newStore()
    const { id } = await createCampaign(store.merchant)
    await act(store.merchant, id, 'schedule', {})
    await act(store.merchant, id, 'pause')
    const rows = await app.sql<{ action: string }>(
      `select action from audit_log where tenant_ref = $1 and entity = $2 order by created_at, id`,
      [store.tenant, `campaign:${id}`],
    )
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['campaign.created', 'campaign.scheduled', 'campaign.paused'],
    )
  })
})
