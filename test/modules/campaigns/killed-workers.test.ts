import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { WAVE_MAX, WAVES } from '../../../src/modules/campaigns/send-waves.ts'
import { until } from '../../harness/eventually.ts'
import { startProcess } from '../../harness/process.ts'
import {
  addReaders,
  assertCountsAddUp,
  countByAddress,
  openCampaignApp,
  readCampaign,
  startMail,
} from './setup.ts'

/** How many addresses there are, and how often the worker is killed. The long torture run sets more. */
const ADDRESSES = Number(process.env.CAMPAIGN_ADDRESSES ?? 200)
const KILLS = ADDRESSES > 1_000 ? 3 : 1

test('a campaign whose worker is killed mails each address at most once, and reports which mails are unknown', async (t) => {
  // Slow enough that mails are under way at every kill.
  const app = await openCampaignApp(t, {
    smtp: {
      onRcptTo: (_address, _session, done) => void setTimeout(done, ADDRESSES > 1_000 ? 1 : 15),
    },
  })
  const { tenant, merchant } = await app.newStore()
  const readers = await addReaders(app, tenant, ADDRESSES)
  const campaign = await startMail(merchant)
  const start = () =>
    startProcess(t, {
      role: 'worker',
      env: {
        DATABASE_URL: app.database.url,
        MIGRATE_ON_START: 'false',
        SECRET_KEY: app.database.secretKey,
        SMTP_URL: app.smtpUrl,
        MAIL_FROM: 'Fairdock <news@fairdock.example>',
        CAMPAIGN_MAILS_PER_MINUTE: '1000000',
      },
    })
  let worker = await start()
  for (let kill = 0; kill < KILLS; kill++) {
    const wanted = app.received.length + 1 + Math.random() * (ADDRESSES / (KILLS + 2))
    await until('it sends', () => app.received.length >= wanted, 120_000)
    worker.kill('SIGKILL')
    await worker.exit
    // Its lease lasts for 30 s, which the test does not wait for.
    await app.sql('update campaign_mailings set lease_until = now() where lease_token is not null')
    worker = await start()
  }
  const isDone = async () => (await readCampaign(merchant, campaign.id)).status === 'ended'
  await until('all is sent', isDone, 60_000 + 20 * ADDRESSES)
  worker.kill('SIGTERM')
  await worker.exit
  await sleep(50)

  const counts = countByAddress(app.received)
  const twice = [...counts].filter(([, count]) => count > 1)
  assert.deepEqual(twice, [], 'nobody gets a mail twice')
  const rows = await app.sql<{ email: string; state: string }>(
    'select email, state from campaign_recipients where campaign_id = $1',
    [campaign.id],
  )
  assert.deepEqual(rows.map(({ email }) => email).sort(), readers, 'nobody is lost')
  for (const { email, state } of rows) {
    assert.ok(state === 'sent' || state === 'unknown', `${email} ${state}`)
    if (state === 'sent') assert.equal(counts.get(email), 1, `${email} was not mailed`)
  }
  const unknown = rows.filter(({ state }) => state === 'unknown').length
  const { mailing } = await readCampaign(merchant, campaign.id)
  assert.equal(mailing.unknown_count, unknown)
  assert.ok(unknown <= KILLS * WAVES * WAVE_MAX, `${unknown} are unknown`)
  t.diagnostic(`${ADDRESSES} addresses, ${KILLS} kills: ${unknown} unknown, 0 twice, 0 lost`)
  await assertCountsAddUp(app)
})
