import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, openClockApp } from '../test-clock/setup.ts'
import { act, addReaders, createCampaign, createSegment, LETTER, readCampaign } from './setup.ts'

test('a moved clock starts a campaign at its time, sends its mails, and ends it', async (t) => {
  const app = await openClockApp(t)
  const { tenant, merchant } = await app.openSandbox('acme')
  const sql = async <T extends object>(query: string, values?: unknown[]) =>
    (await app.superuser.query(query, values)).rows as T[]
  await addReaders({ sql }, tenant, 25)
  const segment_id = await createSegment(merchant)
  const { id } = await createCampaign(merchant, { ...LETTER, segment_id })
  const at = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()
  const [send_at, ends_at] = [at(3), at(10)]
  await act(merchant, id, 'schedule', { send_at, ends_at })

  const ran = await app.advance(merchant, { advance: 'P5D' })
  const campaign = ran.filter(({ kind }) => kind === 'campaign')
  assert.deepEqual(
    campaign.map((run) => [run.id, run.outcome, run.at]),
    [[id, 'active', send_at]],
  )
  assert.ok(ran.some(({ kind, outcome }) => kind === 'campaign_mail' && outcome === '25 mails'))
  assert.equal(app.mails.length, 25)
  assert.equal((await readCampaign(merchant, id)).mailing.sent_count, 25)

  const later = await app.advance(merchant, { advance: 'P7D' })
  assert.deepEqual(
    later.filter(({ kind }) => kind === 'campaign').map(({ outcome, at: when }) => [outcome, when]),
    [['ended', ends_at]],
  )
  assert.equal((await readCampaign(merchant, id)).status, 'ended')
})
