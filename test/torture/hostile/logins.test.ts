import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openTestApp } from '../../harness/app.ts'
import { openFlooder } from './flood.ts'

const LOG_IN = '/v1/identity/login'
const ann = { email: 'ann@acme.example', password: 'correct horse', name: 'Ann' }

const FLOOD_SECONDS = 60
/** The longest time that an owner's login may take beside a flood: the hash itself takes a tenth of it. */
const LOGIN_MS = 2_000

test('three callers who flood sign-up and login leave an owner her login', {
  timeout: 300_000,
}, async (t) => {
  const app = await openTestApp(t, {
    env: {
      TRUST_PROXY: '127.0.0.1',
      RATE_LIMIT_SIGNUPS_PER_HOUR: '20',
      RATE_LIMIT_LOGINS_PER_MINUTE: '60',
    },
  })
  const owner = app.as({ 'x-forwarded-for': '198.51.100.7' })
  assert.equal((await owner.post('/v1/identity/signup', ann)).status, 201)
  const send = (path: string, caller: number, body: object) => ({
    url: `${app.url}${path}`,
    method: 'POST' as const,
    headers: { 'content-type': 'application/json', 'x-forwarded-for': `203.0.113.${caller}` },
    body: JSON.stringify(body),
  })
  const requests = [1, 2, 3].flatMap((caller) => [
    send(LOG_IN, caller, { email: ann.email, password: 'wrong horse' }),
    send(LOG_IN, caller, { email: `nobody${caller}@acme.example`, password: 'wrong horse' }),
    send('/v1/identity/signup', caller, { ...ann, email: `other${caller}@acme.example` }),
  ])

  const { statuses, result } = await openFlooder(t).during({ requests, clients: 48 }, async () => {
    const waits: number[] = []
    const end = performance.now() + FLOOD_SECONDS * 1_000
    while (performance.now() < end) {
      const sent = performance.now()
      const { status, text } = await owner.post(LOG_IN, ann)
      assert.equal(status, 200, text)
      waits.push(performance.now() - sent)
      // Her own limit is 60 logins a minute.
      await sleep(1_200)
    }
    return waits
  })
  const longest = Math.max(...result)
  t.diagnostic(
    `${result.length} logins, the longest ${Math.round(longest)} ms; the flood got ${JSON.stringify(statuses)}`,
  )
  assert.equal(statuses['503'], undefined)
  assert.ok(longest < LOGIN_MS, `${longest} ms`)
})
