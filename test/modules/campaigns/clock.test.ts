import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { assertJustAfter, openClockApp } from '../test-clock/setup.ts'
import { act, addReaders, createCampaign, createSegment, LETTER, readCampaign } from './setup.ts'

test('a moved clock starts a campaign at its time, mails no stranger, and ends it', async (t) => {
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
  const changesIn = (runs: typeof ran, due: string) =>
    runs
      .filter(({ kind }) => kind === 'campaign')
      .map(({ id, at, outcome }) => {
        assertJustAfter(at, due, String(outcome))
        return [id, outcome]
      })
  assert.deepEqual(changesIn(ran, send_at), [[id, 'active']])
  // A sandbox mails its owner alone.
  assert.equal(app.mails.length, 0)
  assert.equal((await readCampaign(merchant, id)).mailing.sent_count, 0)

  const later = await app.advance(merchant, { advance: 'P7D' })
  assert.deepEqual(changesIn(later, ends_at), [[id, 'ended']])
  assert.equal((await readCampaign(merchant, id)).status, 'ended')
})
