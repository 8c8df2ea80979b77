import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { deleteUnconfirmed } from '../../../src/modules/marketing/newsletter-jobs.ts'
import { deleteOldCounters } from '../../../src/platform/rate-limits-postgres.ts'
import { openTestApp } from '../../harness/app.ts'
import { assertRefused, essence } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { movableClock } from '../checkout/setup.ts'
import { LIST, linkIn, openReaders, openReadersOf } from './readers.ts'

const shared = share(async (scope) => {
  const app = await openTestApp(scope)
  return { app, superuser: await openSuperuser(scope, app.database) }
})
let stores = 0

/** The next store with a newsletter. */
const openStore = () =>
  openReadersOf(shared.current.app, shared.current.superuser, `acme-${++stores}`)

describe('a newsletter', () => {
  test('has an address only after the mailed link is opened and its button pressed', async () => {
    const { app, ask, linksTo, subscriber, press } = await openStore()
    assert.deepEqual((await ask('Ann@Example.com')).body, { accepted: true })
    assert.equal((await subscriber('ann@example.com')).status, 'pending')
    const [path = ''] = await linksTo('Ann@Example.com')
    const page = await fetch(app.url + path)
    assert.match(await page.text(), /<button>Yes, I want it<\/button>/)
    assert.equal(
      (await subscriber('ann@example.com')).status,
      'pending',
      'opening confirms nothing',
    )
    assert.equal((await press(path)).status, 200)
    const { status, source, email, confirmed_at } = await subscriber('ANN@example.com')
    assert.deepEqual([status, source, email], ['subscribed', 'footer', 'Ann@Example.com'])
    assert.ok(Date.parse(confirmed_at) > Date.now() - 60_000)
    assert.equal((await press(path)).status, 200, 'a second press changes nothing')
  })

  test('never tells whether an address is on the list, and sends no mail to addresses on it', async () => {
    const { ask, join, linksTo } = await openStore()
    await join('ann@example.com')
    const known = await ask('ann@example.com')
    const unknown = await ask('bob@example.com')
    assert.deepEqual(essence(known), essence(unknown))
    assert.equal((await linksTo('ann@example.com')).length, 1)
    assert.equal((await linksTo('bob@example.com')).length, 1)
  })

  test('mails one address at most twice a day, however many requests come in its name', async () => {
    const { ask, linksTo } = await openStore()
    const ips = Array.from({ length: 20 }, (_, at) => `203.0.113.${at}`)
    const answers = await Promise.all(ips.map((ip) => ask('ann@example.com', { ip })))
    assert.ok(answers.every(({ status }) => status === 202))
    assert.equal((await linksTo('ann@example.com')).length, 2)
  })

  test('counts the two mails over a whole day, and not over an hour of it', async () => {
    const { app, ask, linksTo } = await openStore()
    const email = `${randomUUID()}@example.com`
    const age = (hours: number) =>
      shared.current.superuser.query(
        'update limit_counters set window_start = window_start - make_interval(hours => $1)',
        [hours],
      )
    for (const _ of [1, 2, 3]) await ask(email)
    await age(23)
    await deleteOldCounters(app.runtime.workerDatabase.directory)
    await ask(email)
    assert.equal((await linksTo(email)).length, 2)
    await age(2)
    await ask(email)
    assert.equal((await linksTo(email)).length, 3)
  })

  test('mails one address at most ten times a day for all stores, with or without a plus', async () => {
    const mailbox = randomUUID()
    const recipients: string[] = []
    for (let at = 0; at < 7; at++) {
      const { ask } = await openStore()
      for (const tag of ['', '+a']) {
        const email = `${mailbox}${tag}@example.com`
        assert.equal((await ask(email)).status, 202)
        recipients.push(email)
      }
    }
    const { rows } = await shared.current.superuser.query(
      'select count(*)::int as mails from mails where recipient = any ($1)',
      [recipients],
    )
    assert.deepEqual(rows, [{ mails: 10 }])
  })

  test('a newsletter of a sandbox mails its owner alone, and keeps all other mails unsent', async () => {
    const { app, shop, ask } = await openStore()
    const { tenant } = shop
    await app.operator.put(`/v1/stores/${tenant}/owner`, { email: 'owner@acme.example' })
    await app.operator.put(`/v1/stores/${tenant}/sandbox`, { sandbox: true })
    for (const email of ['Owner+test@acme.example', 'stranger@example.com']) {
      assert.equal((await ask(email)).status, 202)
    }
    const { rows } = await shared.current.superuser.query(
      `select recipient, kept, next_attempt_at is not null as waits from mails
        where tenant_ref = $1 order by recipient`,
      [tenant],
    )
    assert.deepEqual(rows, [
      { recipient: 'Owner+test@acme.example', kept: false, waits: true },
      { recipient: 'stranger@example.com', kept: true, waits: false },
    ])
  })

  test('limits one shopper, and leaves the others of the store alone', async () => {
    const { ask } = await openStore()
    const from = (ip: string) => ask(`${randomUUID()}@example.com`, { ip })
    const answers = await Promise.all(Array.from({ length: 8 }, () => from('203.0.113.1')))
    assert.equal(answers.filter(({ status }) => status === 429).length, 3)
    assert.equal((await from('203.0.113.2')).status, 202)
  })

  test('can be left by the link of every exported row, in one click, for ever', async (t) => {
    const clock = movableClock()
    const { merchant, join, press, subscriber } = await openReaders(t, { clock })
    await join('ann@example.com')
    const csv = (await merchant.get(`${LIST}/export.csv`)).text
    const [head, line] = csv.split('\r\n')
    assert.match(head ?? '', /"email".*"unsubscribe_url"$/)
    clock.advance(5 * 365 * DAY_MS)
    assert.equal((await press(linkIn(line))).status, 200)
    assert.equal((await subscriber('ann@example.com')).status, 'unsubscribed')
    assert.equal((await merchant.get(`${LIST}/export.csv`)).text.split('\r\n').length, 2)
  })

  test('can be joined again after leaving only by a new link', async () => {
    const { ask, join, linksTo, merchant, press, subscriber } = await openStore()
    await join('ann@example.com')
    const { id } = await subscriber('ann@example.com')
    assert.equal((await merchant.post(`${LIST}/${id}/unsubscribe`)).status, 200)
    await ask('ann@example.com')
    assert.equal((await subscriber('ann@example.com')).status, 'unsubscribed')
    const [, second = ''] = await linksTo('ann@example.com')
    await press(second)
    assert.equal((await subscriber('ann@example.com')).status, 'subscribed')
  })

  test('refuses links that were changed, are of another kind, or have expired', async (t) => {
    const clock = movableClock()
    const { app, merchant, ask, join, linksTo, press, subscriber } = await openReaders(t, { clock })
    await ask('late@example.com')
    const [late = ''] = await linksTo('late@example.com')
    await join('ann@example.com')
    const leave = linkIn((await merchant.get(`${LIST}/export.csv`)).text.split('\r\n')[1])
    const token = leave.split('/').at(-1) ?? ''
    for (const path of [
      `/v1/newsletter/${token}`,
      late.replace('newsletter', 'unsubscribe'),
      `${leave}x`,
      `${leave.slice(0, -6)}AAAAAA`,
      '/v1/unsubscribe/x',
    ]) {
      assert.equal((await press(path)).status, 404, path)
      assert.equal((await fetch(app.url + path)).status, 404, path)
    }
    clock.advance(8 * DAY_MS)
    assert.equal((await press(late)).status, 404)
    assert.equal((await subscriber('late@example.com')).status, 'pending')
    assert.equal((await subscriber('ann@example.com')).status, 'subscribed')
  })

  test('tells the reader of a changed link what to do, in the language of the browser', async (t) => {
    const { app } = await openReaders(t)
    const open = async (path: string, language: string, method = 'GET') => {
      const headers = {
        'accept-language': language,
        ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded' }),
      }
      const answer = await fetch(app.url + path, { method, headers })
      assert.equal(answer.status, 404)
      return answer.text()
    }
    for (const method of ['GET', 'POST']) {
      const german = await open('/v1/newsletter/x', 'de-AT,de;q=0.9,en;q=0.8', method)
      assert.match(german, /<html lang="de">/)
      assert.match(german, /Bitte bestellen Sie den Newsletter noch einmal/)
      // A reader who wants to leave is not told to ask for the newsletter again.
      const leaving = await open('/v1/unsubscribe/x', 'de', method)
      assert.match(
        leaving,
        /<h1>Newsletter<\/h1>\s*<p>Dieser Link ist unvollständig\. Bitte öffnen Sie ihn/,
      )
      assert.doesNotMatch(leaving, /noch einmal/)
      assert.match(await open('/v1/unsubscribe/x', 'ja', method), /<html lang="en">/)
    }
  })

  test('refuses a button that another site presses', async () => {
    const { ask, linksTo, press, subscriber } = await openStore()
    await ask('ann@example.com')
    const [path = ''] = await linksTo('ann@example.com')
    assert.equal((await press(path, { origin: 'https://evil.example' })).status, 403)
    assert.equal((await subscriber('ann@example.com')).status, 'pending')
  })

  test('is confirmed and left on pages in the name and colours of the store, in its language', async () => {
    const { app, merchant, ask, linksTo, press } = await openStore()
    const manifest = {
      brand: { name: 'Harbour & Hearth' },
      theme: { color: { primary: '#0b5c6b', background: '#fffdf8' } },
    }
    assert.equal((await merchant.put('/v1/my/store/manifest', { manifest })).status, 200)
    await merchant.patch('/v1/my/store', { language: 'de-DE' })
    await ask('ann@example.com')
    const [path = ''] = await linksTo('ann@example.com')
    const asked = await fetch(app.url + path)
    const text = await asked.text()
    assert.match(text, /<html lang="de">/)
    assert.match(text, /class="brand">[\s\S]*Harbour &amp; Hearth/)
    assert.match(text, /--paper: #fffdf8;[^}]*--fill: #0b5c6b;/)
    const style = /<style>(:root \{ --paper: #fffdf8[\s\S]*?)<\/style>/.exec(text)?.[1] ?? ''
    const digest = createHash('sha256').update(style).digest('base64')
    const policy = asked.headers.get('content-security-policy') ?? ''
    assert.ok(policy.includes(`'sha256-${digest}'`), policy)
    const confirmed = await (await press(path)).text()
    const [, leave = ''] = /href="([^"]+\/v1\/unsubscribe\/[^"]+)"/.exec(confirmed) ?? []
    const left = await (await fetch(app.url + new URL(leave).pathname)).text()
    assert.match(left, /class="brand">[\s\S]*Harbour &amp; Hearth[\s\S]*Abmelden/)
  })

  test('shows the name of a store as text', async () => {
    const { app, merchant, ask, linksTo } = await openStore()
    await merchant.patch('/v1/my/store', { display_name: '<b onload=x>\u2028Ann' })
    await ask('ann@example.com')
    const [path = ''] = await linksTo('ann@example.com')
    const text = await (await fetch(app.url + path)).text()
    assert.doesNotMatch(text, /<b onload/)
    assert.match(text, /&lt;b onload=x&gt;/)
  })

  test('keeps one tenant out of sight of another', async () => {
    const { app, join, subscriber } = await openStore()
    await join('ann@example.com')
    const other = await app.merchant('other')
    const { id } = await subscriber('ann@example.com')
    assert.deepEqual((await other.get(LIST)).body.subscribers, [])
    const theirs = await other.post(`${LIST}/${id}/unsubscribe`)
    const nobodys = await other.post(`${LIST}/${randomUUID()}/unsubscribe`)
    assert.equal(theirs.body.error.code, 'subscriber_not_found')
    assert.deepEqual(essence(theirs), essence(nobodys))
    assert.equal((await other.post(`${LIST}/nonsense/unsubscribe`)).status, 404)
    assert.equal((await subscriber('ann@example.com')).status, 'subscribed')
  })

  test('refuses bad addresses, and a key without the scope', async () => {
    const { app, shop, ask } = await openStore()
    const addresses = ['', 'ann', 'a@b@', 7, null, `${'a'.repeat(250)}@example.com`]
    await assertRefused(
      addresses.map((each) => [String(each), each, 'invalid_body', 'email'] as const),
      ask,
    )
    const reader = await app.merchant(shop.tenant, 'read:own_orders')
    assert.equal((await reader.get(LIST)).status, 403)
    const nowhere = '/v1/tenants/none/newsletter'
    assert.equal((await app.storefront.post(nowhere, { email: 'a@b.example' })).status, 404)
  })

  test('forgets requests that were not confirmed for 30 days, and keeps the newer ones', async (t) => {
    const { app, ask, join, subscriber, superuser } = await openReaders(t)
    await join('ann@example.com')
    await ask('bob@example.com')
    await ask('new@example.com')
    await superuser.query(
      `update newsletter_subscribers set requested_at = now() - interval '31 days'
        where email <> 'new@example.com'`,
    )
    assert.equal(await deleteUnconfirmed(app.runtime.workerDatabase), 1)
    assert.equal(await deleteUnconfirmed(app.runtime.workerDatabase), 0)
    assert.equal(await subscriber('bob@example.com'), undefined)
    assert.equal((await subscriber('ann@example.com')).status, 'subscribed')
    assert.equal((await subscriber('new@example.com')).status, 'pending')
  })
})
